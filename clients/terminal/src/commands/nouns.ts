import type { Command } from 'commander'
import { type Calls, itemsOf } from 'creel-client'
import { type ActionOptions, actionMembers, withActionOptions } from './actionMembers.ts'

export interface Item {
  readonly id: string
  readonly name: string | null
  readonly [member: string]: unknown
}

/** The list that a command works on. `endpointId` is empty for items of the workspace. */
export interface Place {
  readonly endpointId: string
  readonly query: { readonly actionId?: string }
}

/** An object of the API with commands to list, create, change and delete it; its members are those of the API. */
export interface Noun {
  /** Singular name, for texts. */
  readonly one: string
  /** Reads the items of an endpoint and an action, as far as the noun has them. */
  readonly read: (calls: Calls, place: Place) => Promise<readonly Item[]>
  readonly list: string
  /** Route of one item; its last segment is the id. */
  readonly item: string
  /** Place of the endpoint: in the path, or in the body at creation. */
  readonly endpoint?: 'path' | 'body'
  /** Whether the items belong to an action, the first one by default. */
  readonly hasAction?: true
  /** Member of the body that `--file` sets in an update; undefined: the whole body. */
  readonly fileMember?: string
  readonly columns: readonly string[]
  /** Options for members, beside `--set`. */
  readonly options?: {
    readonly add: (command: Command) => Command
    /** @param stored the one before; undefined for a new one */
    readonly read: (options: ActionOptions, stored: unknown) => Promise<Record<string, unknown>>
  }
  readonly example: string
}

export const ACTIONS: Noun = {
  one: 'action',
  list: '/api/v1/endpoints/{endpointId}/actions',
  item: '/api/v1/endpoints/{endpointId}/actions/{actionId}',
  read: async ({ actions }, { endpointId }) => (await actions.list({ endpointId })).actions,
  endpoint: 'path',
  columns: ['id', 'name', 'kind', 'isActive', 'url', 'alertChannelName'],
  options: { add: withActionOptions, read: actionMembers },
  example: '-e orders --name Billing --to https://app.example.com/hooks --timeout 30s',
}

/** Transformation rules of an action. */
export const RULES: Noun = {
  one: 'rule',
  list: '/api/v1/endpoints/{endpointId}/transformations',
  item: '/api/v1/endpoints/{endpointId}/transformations/{ruleId}',
  read: async ({ transformations }, { endpointId, query }) =>
    (await transformations.getSet({ endpointId, ...query })).rules,
  endpoint: 'path',
  hasAction: true,
  fileMember: 'rule',
  columns: ['id', 'position', 'name', 'enabled'],
  example: '-e orders --file rule.json',
}

export const CHANNELS: Noun = {
  one: 'channel',
  read: ({ alertChannels }) =>
    Array.fromAsync(itemsOf((from) => alertChannels.list({ ...from, pageSize: 100 }))),
  list: '/api/v1/alert-channels',
  item: '/api/v1/alert-channels/{id}',
  columns: ['id', 'name', 'kind', 'enabled', 'health', 'destination'],
  example: '--set kind=slack name=ops secret=https://hooks.slack.com/services/…',
}

export const WATCHDOGS: Noun = {
  one: 'watchdog',
  read: ({ watchdogs }) => Array.fromAsync(itemsOf((from) => watchdogs.list({ ...from, pageSize: 100 }))),
  list: '/api/v1/watchdogs',
  item: '/api/v1/watchdogs/{id}',
  endpoint: 'body',
  columns: ['id', 'name', 'endpointName', 'state'],
  example: '-e orders --set expectedIntervalSeconds=3600 graceSeconds=300',
}
