import type { Command } from 'commander'
import type { ApiClient } from '../api/apiClient.ts'
import { type Operation, requireMembers } from '../api/bodyMembers.ts'
import { assignments, spanOption } from '../words.ts'

/** Value of `--dedupe` that captures an event each time. */
const OFF = 'off'
const DAY_MS = 86_400_000

export interface MemberOptions {
  readonly name?: string
  readonly provider?: string
  readonly signingSecret?: string
  readonly ttl?: number
  readonly eventIdPath?: string
  readonly dedupe?: string
  readonly dedupeBy?: string
  readonly dedupeWindow?: number
  readonly on?: boolean
  readonly off?: boolean
  readonly set?: readonly string[]
}

/** Adds options for the most common members, and `--set` for all the others. */
export function withMemberOptions(command: Command, { isNew }: { isNew: boolean }): Command {
  command
    .option('--name <name>', 'display name, 1-100 characters')
    .option('--provider <slug>', 'sender, e.g. stripe (`creel providers` lists them); "" for none')
    .option('--signing-secret <secret>', 'secret that the sender signs with; "" for none')
  if (isNew) command.option('--ttl <span>', 'delete the endpoint after this time, e.g. 15m', spanOption)
  return command
    .option(
      '--event-id-path <path>',
      'path of the event id, e.g. body.order.id; "" for the path of the provider',
    )
    .option('--dedupe <mode>', 'mark, skip or discard an event that comes again; off for none')
    .option(
      '--dedupe-by <path>',
      'path that identifies an event for --dedupe, e.g. body.order.id; default event id',
    )
    .option(
      '--dedupe-window <span>',
      'time after the first event in which others are duplicates; default 1d',
      spanOption,
    )
    .option('--on', 'capture requests')
    .option('--off', 'stop capturing: senders get 404')
    .option('--set <member=value...>', 'any member of the API, e.g. responseStatusCode=202')
}

/**
 * The members that the options set, as the API's input.
 *
 * @param operation the operation that takes them
 * @throws ClientError for a `--set` that is not an assignment or names no member of the operation
 */
export async function membersOf(
  options: MemberOptions,
  api: ApiClient,
  operation: Operation,
): Promise<Record<string, unknown>> {
  const { name, provider, signingSecret, ttl, eventIdPath, on, off, set = [] } = options
  const named = {
    name,
    provider,
    signingSecret,
    ttlSeconds: ttl === undefined ? undefined : Math.round(ttl / 1000),
    eventIdPath,
    dedupe: dedupeOf(options),
    isActive: on === true ? true : off === true ? false : undefined,
  }
  const members: Record<string, unknown> = {}
  for (const [member, value] of Object.entries(named)) if (value !== undefined) members[member] = value
  const assigned = assignments(set, 'responseStatusCode=202')
  await requireMembers(api, operation, Object.keys(assigned))
  return { ...members, ...assigned }
}

function dedupeOf({ dedupe, dedupeBy: by = 'event', dedupeWindow = DAY_MS }: MemberOptions) {
  if (dedupe === undefined) return undefined
  return dedupe === OFF ? null : { by, windowSeconds: Math.round(dedupeWindow / 1000), then: dedupe }
}
