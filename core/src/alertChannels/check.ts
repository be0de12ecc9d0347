import { z } from 'zod'
import type { Accepted } from '../api/checks.ts'
import type { Services } from '../api/services.ts'
import { MASK } from '../engine/credentials.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import { DAY_MS } from '../platform/time/index.ts'
import { type Channel, isConnected } from './channel.ts'
import { type ChannelKind, type ChannelKindName, channelKind } from './kinds/index.ts'
import { type CreateInput, MUTE_DAYS_MAX, type SubscriptionInput, type UpdateInput } from './schema.ts'
import { type ChannelSettings, readSettings, type SettingField, textSetting } from './settings.ts'

const TOKEN_MAX = 512
const SIGNING_SECRET_MIN = 16
const SIGNING_SECRET_MAX = 512

/**
 * The issue with the format of a `secret`; null if it is valid. The message never quotes the secret. Credentials that
 * are addresses are checked by the SSRF guard as well.
 *
 * @param secret not empty: `""` clears the credential
 */
export function credentialIssue(kind: ChannelKind, secret: string): InputIssue | null {
  const wrong = (code: InputIssue['code'], words: string) =>
    issue(['secret'], code, `secret (${kind.credentialLabel}) ${words}`)
  if (kind.credential === 'signingSecret') {
    const { length } = [...secret]
    if (length < SIGNING_SECRET_MIN) {
      return wrong('too_short', `must have at least ${SIGNING_SECRET_MIN} characters.`)
    }
    return length > SIGNING_SECRET_MAX
      ? wrong('too_long', `must have at most ${SIGNING_SECRET_MAX} characters.`)
      : null
  }
  if (kind.credential === 'url') return null
  if (secret.length > TOKEN_MAX) return wrong('too_long', `must have at most ${TOKEN_MAX} characters.`)
  // The secret becomes part of a path or a header, so characters that could end either are refused.
  return /^[\w.:~+/=-]+$/.test(secret)
    ? null
    : wrong('bad_format', 'must be letters, digits and . : ~ + / = - _ only.')
}

const PART_MIN = 6
/** A plain word of a path (`services`, `webhooks`): not a secret, and likely to occur in a provider's answer. */
const PLAIN_WORD = /^[a-z]{1,10}$/

/**
 * Masks a credential in text from outside, because providers quote addresses and tokens in their answers. For an
 * address, its path, its longer path segments and its query values are masked, too. A short token, or one that is a plain
 * word, is masked as a whole word.
 */
export function maskSecret(text: string, secret: string | null): string {
  if (secret === null) return text
  if (!isTelling(secret)) {
    const alone = secret.replaceAll(/\W/g, '\\$&')
    return text.replaceAll(new RegExp(`(?<![\\w-])${alone}(?![\\w-])`, 'g'), MASK)
  }
  let masked = text
  for (const part of secretParts(secret)) masked = masked.replaceAll(part, MASK)
  return masked
}

/** Whether a part of a credential is masked within other text, too. */
const isTelling = (part: string) => part.length >= PART_MIN && !PLAIN_WORD.test(part)

/** Longest first, so that a part never masks only a piece of a longer one. */
function secretParts(secret: string): string[] {
  const parts = [secret]
  const url = URL.parse(secret)
  if (url !== null) {
    parts.push(url.href, url.pathname + url.search, url.search, url.pathname)
    parts.push(...url.pathname.split('/'), ...url.searchParams.values())
  }
  return [...new Set(parts.flatMap((part) => [part, encodeURIComponent(part)]))]
    .filter(isTelling)
    .sort((a, b) => b.length - a.length)
}

const timestamp = z.iso.datetime({ offset: true })

type CheckServices = Pick<Services, 'outbound' | 'clock'>

/** Checks of a new channel that the schema cannot express. A missing required credential is accepted. */
export function checkNewChannel(
  services: CheckServices,
  input: Accepted<CreateInput>,
): Promise<InputIssue[]> {
  return input.kind === undefined
    ? checkMembers(services, input, null)
    : checkAll(services, input, input.kind, null)
}

/** Checks of a change that the schema cannot express. Values equal to the stored ones are not checked again. */
export async function checkChannelChange(
  services: CheckServices,
  channel: Channel,
  input: Accepted<UpdateInput>,
): Promise<InputIssue[]> {
  const issues = await checkAll(services, input, channel.kind, channel)
  if (input.kind !== undefined && input.kind !== channel.kind) {
    issues.push(issue(['kind'], 'not_allowed', `kind cannot change after creation: it is ${channel.kind}.`))
  }
  return issues
}

/** Checks that a test can be sent. */
export function checkConnected(channel: Channel): InputIssue[] {
  if (isConnected(channel)) return []
  const { credentialLabel } = channelKind(channel.kind)
  const detail = `The channel has no credential (${credentialLabel}) yet; set secret first.`
  return [issue(['secret'], 'required', detail)]
}

/**
 * A stored token stays with the host that it was given for: a call that names another one must give it again, so that no
 * change of an address reveals it.
 */
export function movedTokenIssues(
  { credential, fields }: ChannelKind,
  stored: Pick<Channel, 'secret' | 'settings'>,
  secret: string | undefined,
  settings: ChannelSettings,
): InputIssue[] {
  if (credential !== 'token' || stored.secret === null || secret !== undefined) return []
  const originOf = (from: ChannelSettings, { name, default: other }: SettingField) =>
    URL.parse(textSetting(from, name) || (other ?? ''))?.origin
  const isMoved = fields.some((field) => {
    const origin = originOf(settings, field)
    return field.type === 'url' && origin !== undefined && origin !== originOf(stored.settings, field)
  })
  return isMoved ? [issue(['secret'], 'required', 'secret must be given again for another host.')] : []
}

type Members = Pick<Accepted<UpdateInput>, 'secret' | 'settings' | 'events' | 'mutedUntil'>

async function checkAll(
  services: CheckServices,
  input: Members,
  kindName: ChannelKindName,
  stored: Channel | null,
): Promise<InputIssue[]> {
  const kind = channelKind(kindName)
  const { settings, issues: settingIssues } = readSettings(
    kind.fields,
    input.settings,
    stored?.settings ?? {},
    kind.credentialLabel,
  )
  const issues = [...(await checkMembers(services, input, stored)), ...settingIssues]

  const evaluated = new Set(settingIssues.map((issue) => issue.path[1]))
  for (const { name, type, plainHttp } of kind.fields) {
    const value = settings[name]
    if (type !== 'url' || typeof value !== 'string' || evaluated.has(name)) continue
    if (value !== stored?.settings[name]) {
      issues.push(...(await addressIssues(services, value, ['settings', name], plainHttp === true)))
    }
  }
  const { secret } = input
  if (secret !== undefined && secret !== '' && secret !== stored?.secret) {
    const wrong = credentialIssue(kind, secret)
    if (wrong !== null) issues.push(wrong)
    else if (kind.credential === 'url')
      issues.push(...(await addressIssues(services, secret, ['secret'], false)))
  }
  if (stored !== null) issues.push(...movedTokenIssues(kind, stored, secret, settings))
  return issues
}

/** Checks the members with the same meaning for every kind. */
async function checkMembers(
  { clock }: CheckServices,
  { events, mutedUntil }: Members,
  stored: Channel | null,
): Promise<InputIssue[]> {
  const issues = duplicateIssues(events ?? [])
  if (mutedUntil === undefined || mutedUntil === '' || mutedUntil === stored?.mutedUntil?.toISOString()) {
    return issues
  }
  if (!timestamp.safeParse(mutedUntil).success) {
    issues.push(issue(['mutedUntil'], 'bad_format', 'mutedUntil must be an RFC 3339 timestamp.'))
  } else if (new Date(mutedUntil).getTime() > clock.now().getTime() + MUTE_DAYS_MAX * DAY_MS) {
    const detail = `mutedUntil must be at most ${MUTE_DAYS_MAX} days ahead.`
    issues.push(issue(['mutedUntil'], 'out_of_range', detail))
  }
  return issues
}

function duplicateIssues(events: Accepted<readonly SubscriptionInput[]>): InputIssue[] {
  const seen = new Set<string>()
  return events.flatMap(({ kind }, at) => {
    if (kind === undefined) return []
    if (seen.has(kind)) return [issue(['events', at], 'duplicate', `events subscribes to ${kind} twice.`)]
    seen.add(kind)
    return []
  })
}

/**
 * The SSRF guard's issues for an address. Alerts describe a workspace's traffic, and their addresses are often
 * credentials. So https is required, unless the operator allows the host or the kind accepts plain http.
 */
async function addressIssues(
  { outbound }: CheckServices,
  url: string,
  path: readonly (string | number)[],
  plainHttp: boolean,
): Promise<InputIssue[]> {
  const issues = await outbound.checkDestination(url, path)
  if (issues.length === 0 && !plainHttp && new URL(url).protocol === 'http:' && !outbound.isListed(url)) {
    return [issue(path, 'bad_url', `${path.join('.')} must be an https address.`)]
  }
  return issues
}
