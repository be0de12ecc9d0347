import { isRecord } from '../json.ts'
import type { Answers } from '../trpc.ts'
import { type Change, changesOf } from '../words/diff.ts'
import { plural } from '../words/format.ts'

export type Entry = Answers['audit']['list']['items'][number]

/** Verbs with a name behind them. */
const VERBS: Readonly<Record<string, string>> = {
  'actions.create': 'created the action',
  'actions.update': 'changed the action',
  'actions.remove': 'deleted the action',
  'actions.pause': 'paused the action',
  'actions.resume': 'resumed the action',
  'actions.suspend': 'suspended the action',
  'alertChannels.create': 'added the alert channel',
  'alertChannels.update': 'changed the alert channel',
  'alertChannels.remove': 'deleted the alert channel',
  'contacts.add': 'added the contact',
  'contacts.remove': 'removed the contact',
  'deliveries.skip': 'skipped a dead letter of the action',
  'endpoints.create': 'created the endpoint',
  'endpoints.update': 'changed the endpoint',
  'endpoints.remove': 'deleted the endpoint',
  'endpoints.resetResponses': 'reset the response counts of',
  'endpoints.rotateUrl': 'created a new capture URL for',
  'endpoints.shred': 'destroyed the keys of the encrypted captures of',
  'endpoints.learnSigningSecret': 'stored the signing secret that the provider sent to',
  'endpoints.suspend': 'suspended the endpoint',
  'endpoints.resume': 'resumed the endpoint',
  'keys.create': 'created the API key',
  'keys.update': 'changed the API key',
  'keys.rotate': 'rotated the API key',
  'keys.revoke': 'revoked the API key',
  'erasures.start': 'started the erasure',
  'erasures.finish': 'finished the erasure',
  'replays.start': 'started a replay of',
  'replays.pause': 'paused a replay of',
  'replays.resume': 'resumed a replay of',
  'replays.cancel': 'cancelled a replay of',
  'requests.confirm': "confirmed the sender's subscription to",
  'requests.update': 'changed the note of request',
  'reconcile.start': 'started a reconciliation of',
  'shareLinks.create': 'shared request',
  'shareLinks.revoke': 'revoked a share link of request',
  'subscriptions.create': 'subscribed to',
  'subscriptions.rotateSecret': 'changed the secret of the subscription to',
  'subscriptions.end': 'ended the subscription to',
  'transformations.create': 'added the rule',
  'transformations.update': 'changed the rule',
  'transformations.restore': 'restored an old version of the rule',
  'transformations.remove': 'deleted the rule',
  'transformations.order': 'reordered the rules of the action',
  'transformations.disable': 'switched off the failing rule',
  'watchdogs.create': 'created the watchdog',
  'watchdogs.update': 'changed the watchdog',
  'watchdogs.remove': 'deleted the watchdog',
  'watchdogs.suspend': 'suspended the watchdog',
  'watchdogs.resume': 'resumed the watchdog',
  'workspaces.create': 'created the workspace',
  'workspaces.rename': 'renamed the workspace to',
  'workspaces.setPlan': 'changed the plan of the workspace',
}

/** Verbs that need no name. */
const PLAIN: Readonly<Record<string, string>> = {
  'secrets.rotate': 're-encrypted the stored secrets',
  'sessions.end': 'signed a browser out',
  'sessions.link': 'created a sign-in link',
  'sessions.start': 'signed in',
}

/** Verbs on requests, with the member that counts them. */
const COUNTED: Readonly<Record<string, readonly [member: string, before: string, after: string]>> = {
  'recycleBin.restore': ['restoredCount', 'restored', 'to'],
  'requests.bulkDelete': ['deletedCount', 'moved to the recycle bin:', 'of'],
  'requests.clear': ['deletedCount', 'moved to the recycle bin:', 'of'],
  'requests.import': ['importedCount', 'imported', 'into'],
  'requests.remove': ['deletedCount', 'moved to the recycle bin:', 'of'],
  'retention.purge': ['purgedCount', 'permanently deleted', 'of'],
}

const ACTORS: Readonly<Record<Entry['actor']['kind'], (name: string) => string>> = {
  key: (name) => `Key ${name}`,
  operator: (name) => (name.startsWith('uid ') ? 'Command line' : `Command line (${name})`),
  service: () => 'Creel',
  session: (name) => (name === 'owner' ? 'Owner' : `Browser with ${name}`),
}

/**
 * The parts of the sentence of an entry: `Key ci` `created the action` `Billing`. The subject is empty if the verb says
 * it. An action without words of its own is named as the API names it.
 *
 * @param endpointName name of the entry's endpoint, if it still exists
 */
export function sentenceOf(entry: Entry, endpointName: string | undefined) {
  const { action, actor: by, after, before } = entry
  const actor = ACTORS[by.kind](by.name)
  const { type, id } = entry.subject
  const requestId = type === 'request' ? id : type === 'shareLink' ? (after ?? before)?.requestId : undefined
  const named =
    requestId !== undefined
      ? `#${requestId}`
      : (entry.subject.name ?? endpointName ?? entry.subject.id.slice(0, 8))
  const plain = PLAIN[action]
  if (plain !== undefined) return { actor, verb: plain, subject: '' }
  const counted = COUNTED[action]
  if (counted !== undefined) {
    const [member, verb, preposition] = counted
    const many = after?.[member]
    const words = typeof many === 'number' ? plural(many, 'request') : 'requests'
    return { actor, verb: `${verb} ${words} ${preposition}`, subject: named }
  }
  if (action === 'watchdogs.setActive') {
    const isOn = (after ?? before)?.active === true
    return { actor, verb: isOn ? 'resumed the watchdog' : 'paused the watchdog', subject: named }
  }
  return { actor, verb: VERBS[action] ?? `did ${action} on`, subject: named }
}

/** Differences of an entry, a line for each member; members that are empty before or after a creation are left out. */
export const differencesOf = ({ before, after }: Entry): Change[] =>
  changesOf(flat(before ?? {}), flat(after ?? {}))

const EMPTY: readonly string[] = ['null', '""', '[]', '{}']

function flat(value: object, at = '', into = new Map<string, string>()): Map<string, string> {
  for (const [name, member] of Object.entries(value)) {
    const path = at === '' ? name : `${at}.${name}`
    if (isRecord(member)) flat(member, path, into)
    else {
      const text = typeof member === 'string' && member !== '' ? member : (JSON.stringify(member) ?? 'null')
      if (!EMPTY.includes(text)) into.set(path, text)
    }
  }
  return into
}
