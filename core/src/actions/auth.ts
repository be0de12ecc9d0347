import type { Selectable } from 'kysely'
import { z } from 'zod'
import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import { optional, Timestamp } from '../api/values.ts'
import { AUTH_KINDS, type AuthSettings, authText, storedAuth } from '../deliveries/index.ts'
import type { InputIssue, ItemCode } from '../engine/issues.ts'
import { CONNECTION_FIELDS } from '../engine/words/index.ts'
import type { ActionsTable } from '../platform/db/index.ts'
import type { Sealing } from './declarations.ts'

const TEXT_MAX = 8192

const fieldText = z
  .string()
  .max(TEXT_MAX)
  .refine((text) => !/^\s|\s$|\p{Cc}/u.test(text), {
    params: { code: 'bad_format' },
    message: 'The value must be one line, without control characters and surrounding blanks.',
  })

const secretText = fieldText.min(1)

const Members = z.object({
  token: optional(secretText).describe('bearer; write-only'),
  username: optional(fieldText).describe('basic'),
  password: optional(secretText).describe('basic; write-only'),
  name: optional(z.string().max(256)).describe('header: its name'),
  value: optional(secretText).describe('header; write-only'),
  tokenUrl: optional(z.string()).describe('oauth2ClientCredentials: token endpoint, https'),
  clientId: optional(secretText).describe('oauth2ClientCredentials'),
  clientSecret: optional(secretText).describe('oauth2ClientCredentials; write-only'),
  scope: optional(fieldText).describe('oauth2ClientCredentials: scopes, with spaces between; "" for none'),
})

/** Input of an action's credentials. The members of each kind are checked after parsing. */
export const AuthInput = z
  .object({ kind: z.enum(AUTH_KINDS), ...Members.shape })
  .nullish()
  .describe(
    'forward: credentials for the receiver; null = none, which is the default. In a change of the same kind members that are left out stay',
  )

/** {@link AuthInput} after parsing; undefined leaves what is stored. */
export type AuthInput = z.output<typeof AuthInput>

/** The credentials of an action without their secret. */
export const Auth = z
  .object({
    kind: z.enum(AUTH_KINDS),
    isSet: z.boolean().describe('Whether there is a secret'),
    setAt: Timestamp.nullable().describe('When the credentials were last set'),
    username: z.string().nullable(),
    name: z.string().nullable(),
    tokenUrl: z.string().nullable(),
    clientId: z.string().nullable(),
    scope: z.string().nullable(),
  })
  .meta({ id: 'ActionAuth' })

type Kind = (typeof AUTH_KINDS)[number]
type Member = keyof typeof Members.shape
type AuthColumns = Pick<Selectable<ActionsTable>, 'authSettings' | 'authSecrets' | 'authSetAt'>
type Stored = AuthColumns & Pick<Selectable<ActionsTable>, 'url'>

/** Parts of each kind: its secret, and the other members that it needs or takes. */
const PARTS: Readonly<
  Record<
    Kind,
    { readonly secret: Member | null; readonly needed: readonly Member[]; readonly taken: readonly Member[] }
  >
> = {
  none: { secret: null, needed: [], taken: [] },
  bearer: { secret: 'token', needed: [], taken: [] },
  basic: { secret: 'password', needed: ['username'], taken: [] },
  header: { secret: 'value', needed: ['name'], taken: [] },
  oauth2ClientCredentials: { secret: 'clientSecret', needed: ['tokenUrl', 'clientId'], taken: ['scope'] },
}

const MEMBERS = Members.keyof().options

/** Given members over stored ones: complete when {@link authIssues} finds nothing. */
type Merged = Readonly<Partial<Record<Member, string>>>

interface Given {
  readonly auth?: Accepted<AuthInput>
  /** URL of the action, if the call gives one. */
  readonly url?: string | undefined
}

/**
 * Checks credentials before they are saved: {@link secretIssues}, and the token endpoint, unless it is the stored one.
 *
 * @param stored undefined for a new action
 */
export async function authIssues(
  { outbound }: Pick<Context, 'outbound'>,
  { auth, url }: Given,
  stored: Stored | undefined,
): Promise<InputIssue[]> {
  const issues = secretIssues({ auth, url }, stored)
  if (auth == null) return issues
  const { kind, tokenUrl } = auth
  const takesUrl = kind === undefined || kind === 'oauth2ClientCredentials'
  if (takesUrl && tokenUrl !== undefined && tokenUrl !== knownTokenUrl(settingsOf(stored))) {
    const found = await outbound.checkDestination(tokenUrl, ['auth', 'tokenUrl'])
    if (found.length === 0 && new URL(tokenUrl).protocol === 'http:' && !outbound.isListed(tokenUrl))
      issues.push(issue(['tokenUrl'], 'bad_url', 'The token endpoint must be an https address.'))
    issues.push(...found)
  }
  return issues
}

/**
 * Checks that credentials are complete and fit the stored ones.
 *
 * A stored secret stays with the host that it was given for: a call that names another host must give it again, so that
 * no change of an address reveals a secret.
 *
 * @param stored undefined for a new action
 */
function secretIssues({ auth, url }: Given, stored: Stored | undefined): InputIssue[] {
  const before = settingsOf(stored)
  if (auth === undefined) {
    return before !== null && leadsElsewhere(url, stored?.url)
      ? [issue([], 'required', 'The URL has another host. Give the credentials again, or null.')]
      : []
  }
  if (auth === null) return []
  const { kind, tokenUrl } = auth
  const merged = mergedWith(auth, before)
  const knownUrl = knownTokenUrl(before)
  const issues: InputIssue[] = []
  if (kind !== undefined) {
    const { secret, needed, taken } = PARTS[kind]
    for (const member of MEMBERS)
      if (auth[member] !== undefined && member !== secret && ![...needed, ...taken].includes(member))
        issues.push(issue([member], 'not_allowed', `${member} is not a member of ${kind}.`))
    for (const member of needed)
      if (merged[member] === undefined || merged[member] === '')
        issues.push(issue([member], 'required', `${member} is required for ${kind}.`))
    if (secret !== null && auth[secret] === undefined) {
      const isMoved = leadsElsewhere(url, stored?.url) || leadsElsewhere(tokenUrl, knownUrl)
      if (before?.kind !== kind)
        issues.push(issue([secret], 'required', `${secret} is required for ${kind}.`))
      else if (isMoved)
        issues.push(issue([secret], 'required', `${secret} must be given again for another host.`))
    }
  }
  return [...issues, ...memberIssues(merged)]
}

/**
 * Checks again, on the locked action, that secrets go to no other host than the call knew.
 *
 * @param seen as the check read it
 */
export function lateIssues(given: Given, seen: Stored, stored: Stored): InputIssue[] {
  if (given.auth != null && given.url === undefined && leadsElsewhere(stored.url, seen.url))
    return [
      issue([], 'not_allowed', 'Another call has just changed the host of the URL. Read the action again.'),
    ]
  return secretIssues(given, stored)
}

const knownTokenUrl = (before: AuthSettings | null) =>
  before?.kind === 'oauth2ClientCredentials' ? before.tokenUrl : undefined

function memberIssues({ username, name, token }: Merged): InputIssue[] {
  const issues: InputIssue[] = []
  if (username?.includes(':'))
    issues.push(issue(['username'], 'bad_format', 'A user name has no colon (RFC 7617).'))
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    issues.push(issue(['token'], 'bad_format', 'A token is visible ASCII without blanks.'))
  if (name === undefined || name === '') return issues
  const lower = name.toLowerCase()
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    issues.push(issue(['name'], 'bad_format', 'name must be a header name, like X-Api-Key.'))
  else if (CONNECTION_FIELDS.has(lower) || lower.startsWith('creel-') || lower.startsWith('webhook-'))
    issues.push(issue(['name'], 'not_allowed', `${name} is set by the service and cannot be used.`))
  return issues
}

/**
 * The columns that written credentials change. Omitted credentials change nothing; null and `none` remove them.
 * Credentials equal to the stored ones change nothing.
 */
export function authColumns(
  auth: AuthInput,
  stored: AuthColumns | undefined,
  { secrets, workspaceId, now }: Sealing,
): Partial<AuthColumns> {
  if (auth === undefined) return {}
  const before = settingsOf(stored)
  if (auth === null || auth.kind === 'none')
    // The time stays: attempts that began before it were sent with the former credentials.
    return before === null ? {} : { authSettings: null, authSecrets: null, authSetAt: now }
  const settings = authText(builtSettings(auth.kind, mergedWith(auth, before)))
  const sealed = stored?.authSecrets ?? null
  const known = sealed === null ? undefined : secrets.open(sealed, workspaceId)
  const { secret } = PARTS[auth.kind]
  const given = (secret === null ? undefined : auth[secret]) ?? known ?? ''
  if (settings === stored?.authSettings && given === known) return {}
  return { authSettings: settings, authSecrets: secrets.seal(given, workspaceId), authSetAt: now }
}

/** Converts credentials to the API's shape, without their secret. */
export function authView(row: AuthColumns): z.input<typeof Auth> {
  const settings = settingsOf(row)
  const shown: Merged = settings === null ? {} : membersOf(settings)
  const { username = null, name = null, tokenUrl = null, clientId = null, scope = null } = shown
  const isSet = row.authSecrets !== null
  const kind = settings?.kind ?? 'none'
  return { kind, isSet, setAt: isSet ? row.authSetAt : null, username, name, tokenUrl, clientId, scope }
}

/** Whether a change of the URL would take stored credentials to another host. */
export function leavesCredentialsBehind(stored: Stored, url: string): boolean {
  return stored.authSettings !== null && leadsElsewhere(url, stored.url)
}

function settingsOf(stored: Pick<AuthColumns, 'authSettings'> | undefined): AuthSettings | null {
  const text = stored?.authSettings ?? null
  return text === null ? null : storedAuth(text)
}

function mergedWith(auth: Accepted<NonNullable<AuthInput>>, before: AuthSettings | null): Merged {
  const kept = before !== null && before.kind === auth.kind ? membersOf(before) : {}
  const given = MEMBERS.flatMap((member) => (auth[member] === undefined ? [] : [[member, auth[member]]]))
  return { ...kept, ...Object.fromEntries(given) }
}

function membersOf(settings: AuthSettings): Merged {
  const { kind: _, ...members } = settings
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

function builtSettings(
  kind: Exclude<Kind, 'none'>,
  { username = '', name = '', tokenUrl = '', clientId = '', scope = '' }: Merged,
): AuthSettings {
  if (kind === 'bearer') return { kind }
  if (kind === 'basic') return { kind, username }
  if (kind === 'header') return { kind, name }
  return { kind, tokenUrl, clientId, scope: scope === '' ? null : scope }
}

/** Whether scheme, host or port differ. A text that is no URL differs from none. */
function leadsElsewhere(url: string | null | undefined, before: string | null | undefined): boolean {
  const origin = URL.parse(url ?? '')?.origin
  return origin !== undefined && origin !== URL.parse(before ?? '')?.origin
}

function issue(path: readonly string[], code: ItemCode, detail: string): InputIssue {
  return { path: ['auth', ...path], code, detail }
}
