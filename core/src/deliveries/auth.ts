import { z } from 'zod'
import { isNamed, type WireHeader } from '../engine/message/index.ts'
import type { ClientCredentials } from '../platform/accessTokens/index.ts'

/** Kinds of credentials that a forward can send. */
export const AUTH_KINDS = ['none', 'bearer', 'basic', 'header', 'oauth2ClientCredentials'] as const

/** The part of credentials that is stored in the clear: all but the secret. */
const StoredAuth = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('bearer') }),
  z.object({ kind: z.literal('basic'), username: z.string() }),
  z.object({ kind: z.literal('header'), name: z.string() }),
  z.object({
    kind: z.literal('oauth2ClientCredentials'),
    tokenUrl: z.string(),
    clientId: z.string(),
    scope: z.string().nullable(),
  }),
])

/** Credentials of a forward action without their secret. */
export type AuthSettings = z.output<typeof StoredAuth>

/** Credentials of a forward action, in the clear. */
export interface ForwardAuth {
  readonly settings: AuthSettings
  /** The token, password, value or client secret. */
  readonly secret: string
}

/** Text in place of a secret in records of attempts. One character a byte of its UTF-8, like all header values. */
const HIDDEN = Buffer.from('•••').toString('latin1')

export const authText = (settings: AuthSettings): string => JSON.stringify(settings)

/** The settings of a column that {@link authText} wrote. */
export function storedAuth(text: string): AuthSettings {
  return StoredAuth.parse(JSON.parse(text))
}

/** TLS settings as stored in the clear: everything but the key. */
const StoredTls = z.object({
  clientCertificate: z.string().nullable(),
  certificateAuthority: z.string().nullable(),
  /** The earliest expiry of a certificate that deliveries need. */
  expiresAt: z.iso.datetime(),
})

/** TLS settings of a forward action without the key. */
export type TlsSettings = z.output<typeof StoredTls>

export const tlsText = (settings: TlsSettings): string => JSON.stringify(settings)

/** The settings of a column that {@link tlsText} wrote. */
export function storedTls(text: string): TlsSettings {
  return StoredTls.parse(JSON.parse(text))
}

function authFieldName({ settings }: ForwardAuth): string {
  return settings.kind === 'header' ? settings.name : 'Authorization'
}

/** Replaces all fields named as the credentials' field by one at the end, with {@link HIDDEN} as its value. */
export function withHiddenAuth(headers: readonly WireHeader[], auth: ForwardAuth): WireHeader[] {
  const name = authFieldName(auth)
  return [...headers.filter(([other]) => !isNamed(other, name.toLowerCase())), [name, HIDDEN]]
}

/** Credentials for the token endpoint of an OAuth client; null for other kinds. */
export function clientOf({ settings, secret }: ForwardAuth): ClientCredentials | null {
  if (settings.kind !== 'oauth2ClientCredentials') return null
  const { tokenUrl, clientId, scope } = settings
  return { tokenUrl, clientId, clientSecret: secret, scope }
}

/**
 * The value of the credentials' field, and the texts in it that records must hide.
 *
 * @param token access token of an OAuth client; null for other kinds
 */
export function authValue(
  { settings, secret }: ForwardAuth,
  token: string | null,
): { readonly value: string; readonly secrets: readonly string[] } {
  if (settings.kind === 'header') return { value: Buffer.from(secret).toString('latin1'), secrets: [secret] }
  if (settings.kind === 'basic') {
    const pair = Buffer.from(`${settings.username}:${secret}`).toString('base64')
    return { value: `Basic ${pair}`, secrets: [pair, secret] }
  }
  const bearer = token ?? secret
  return { value: `Bearer ${bearer}`, secrets: [bearer] }
}
