import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { Selectable } from 'kysely'
import { z } from 'zod'
import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import { optional, Timestamp } from '../api/values.ts'
import { storedTls, type TlsSettings, tlsText } from '../deliveries/index.ts'
import { type InputIssue, type ItemCode, issue as issueOf } from '../engine/issues.ts'
import type { ActionsTable } from '../platform/db/index.ts'
import type { TlsIdentity } from '../platform/outbound/index.ts'
import type { Sealing } from './declarations.ts'

/** The longest PEM text, in characters. */
const PEM_MAX = 65_536

const pem = optional(z.string().max(PEM_MAX))

/** Input of an action's TLS settings. */
export const TlsInput = z
  .object({
    clientCertificate: pem.describe(
      'PEM: the client certificate, then its intermediate certificates; "" for none',
    ),
    clientKey: pem.describe('PEM, without a passphrase; write-only. It goes with its certificate'),
    certificateAuthority: pem.describe(
      'PEM: the only CAs that may sign the receiver\'s certificate; "" for the system\'s CAs',
    ),
  })
  .nullish()
  .describe(
    'forward: client certificate and private authority; null = none, which is the default. Members that are left out stay',
  )

/** {@link TlsInput} after parsing; undefined leaves what is stored. */
export type TlsInput = z.output<typeof TlsInput>

/** The TLS settings of an action without the key. */
export const Tls = z
  .object({
    clientCertificate: z.string().nullable(),
    certificateAuthority: z.string().nullable(),
    isSet: z.boolean().describe('Whether there is a client key'),
    setAt: Timestamp.nullable(),
    subject: z.string().nullable().describe('Subject of the client certificate'),
    expiresAt: z.iso
      .datetime()
      .describe(
        'Expiry of the client certificate or of the last CA, whichever is earlier. An alert is sent 14 days before',
      ),
  })
  .meta({ id: 'ActionTls' })

type TlsColumns = Pick<Selectable<ActionsTable>, 'tlsCertificates' | 'tlsClientKey' | 'tlsSetAt'>
type Stored = TlsColumns & Pick<Selectable<ActionsTable>, 'url'>

type Opening = Omit<Sealing, 'now'>

/** Given members over stored ones. */
type Merged = TlsIdentity

/**
 * Checks TLS settings before they are saved: certificates that are unreadable or expired, a key of another certificate,
 * a URL without TLS. A certificate equal to the stored one is not checked again: it may have expired since.
 *
 * @param url URL of the action, if the call gives one
 * @param stored undefined for a new action
 */
export function tlsIssues(
  { secrets, workspace, clock }: Pick<Context, 'secrets' | 'workspace' | 'clock'>,
  { tls, url }: { readonly tls?: Accepted<TlsInput>; readonly url?: string | undefined },
  stored: Stored | undefined,
): InputIssue[] {
  const isPlain = URL.parse(url ?? stored?.url ?? '')?.protocol === 'http:'
  if (tls === undefined)
    return isPlain && url !== undefined && (stored?.tlsCertificates ?? null) !== null
      ? [issueOf(['url'], 'not_allowed', 'The action has TLS settings, which need an https URL.')]
      : []
  if (tls === null) return []
  const opening = { secrets, workspaceId: workspace.id }
  const merged = mergedWith(tls, stored, opening)
  if (isEmpty(merged)) return []
  const ofUrl = isPlain ? [issue([], 'not_allowed', 'TLS settings need an https URL.')] : []
  const now = clock.now()
  const before = settingsOf(stored)
  const hasIdentity =
    merged.clientCertificate === (before?.clientCertificate ?? null) &&
    merged.clientKey === openedKey(stored, opening)
  const hasAuthority = merged.certificateAuthority === (before?.certificateAuthority ?? null)
  return [
    ...ofUrl,
    ...(hasIdentity ? [] : identityIssues(tls, merged, now)),
    ...(hasAuthority ? [] : authorityIssues(merged, now)),
  ]
}

function identityIssues(given: Accepted<NonNullable<TlsInput>>, merged: Merged, now: Date): InputIssue[] {
  const { clientCertificate, clientKey } = merged
  if (clientCertificate === null)
    return clientKey === null
      ? []
      : [issue(['clientCertificate'], 'required', 'A client key goes with its certificate.')]
  const [own] = certificatesOf(clientCertificate) ?? []
  if (own === undefined) {
    const detail = 'clientCertificate must be certificates in PEM, the client certificate first.'
    return [issue(['clientCertificate'], 'bad_format', detail)]
  }
  const issues: InputIssue[] = []
  if (own.validTo <= now) issues.push(expired('clientCertificate', own))
  const wrongKey = (code: ItemCode, detail: string) => [...issues, issue(['clientKey'], code, detail)]
  if (clientKey === null)
    return wrongKey('required', 'clientKey is required: the key of the client certificate.')
  const key = privateKeyOf(clientKey)
  if (key === null) return wrongKey('bad_format', 'A private key in PEM is needed, without a passphrase.')
  if (own.isOf(key)) return issues
  return given.clientKey === undefined
    ? wrongKey('required', 'The stored key belongs to another certificate. Give clientKey as well.')
    : wrongKey('not_allowed', 'The key is of another certificate.')
}

function authorityIssues({ certificateAuthority }: Merged, now: Date): InputIssue[] {
  if (certificateAuthority === null) return []
  const authorities = certificatesOf(certificateAuthority)
  const [first] = authorities ?? []
  if (authorities === null || first === undefined)
    return [
      issue(['certificateAuthority'], 'bad_format', 'certificateAuthority must be certificates in PEM.'),
    ]
  return authorities.some(({ validTo }) => validTo > now) ? [] : [expired('certificateAuthority', first)]
}

/**
 * The columns that written TLS settings change. Omitted settings change nothing; null, or empty members only, remove
 * them. Settings equal to the stored ones change nothing.
 */
export function tlsColumns(
  tls: TlsInput,
  stored: TlsColumns | undefined,
  sealing: Sealing,
): Partial<TlsColumns> {
  if (tls === undefined) return {}
  const merged = tls === null ? null : mergedWith(tls, stored, sealing)
  if (merged === null || isEmpty(merged)) return { tlsCertificates: null, tlsClientKey: null, tlsSetAt: null }
  const { clientKey, ...certificates } = merged
  const text = tlsText({ ...certificates, expiresAt: endOf(certificates).toISOString() })
  if (text === stored?.tlsCertificates && clientKey === openedKey(stored, sealing)) return {}
  const sealed = clientKey === null ? null : sealing.secrets.seal(clientKey, sealing.workspaceId)
  return { tlsCertificates: text, tlsClientKey: sealed, tlsSetAt: sealing.now }
}

/** Converts TLS settings to the API's shape, without the key; null without any. */
export function tlsView(row: TlsColumns): z.input<typeof Tls> | null {
  const settings = settingsOf(row)
  if (settings === null) return null
  const [own] = certificatesOf(settings.clientCertificate ?? '') ?? []
  return { ...settings, isSet: row.tlsClientKey !== null, setAt: row.tlsSetAt, subject: own?.subject ?? null }
}

function mergedWith(
  tls: Accepted<NonNullable<TlsInput>>,
  stored: TlsColumns | undefined,
  opening: Opening,
): Merged {
  const before = settingsOf(stored)
  const next = (given: string | undefined, kept: string | null) =>
    given === undefined ? kept : given || null
  const clientCertificate = next(tls.clientCertificate, before?.clientCertificate ?? null)
  // The key is removed with its certificate.
  const keptKey = clientCertificate === null ? null : openedKey(stored, opening)
  return {
    clientCertificate,
    clientKey: next(tls.clientKey, keptKey),
    certificateAuthority: next(tls.certificateAuthority, before?.certificateAuthority ?? null),
  }
}

function openedKey(stored: TlsColumns | undefined, { secrets, workspaceId }: Opening): string | null {
  const sealed = stored?.tlsClientKey ?? null
  return sealed === null ? null : secrets.open(sealed, workspaceId)
}

function settingsOf(stored: Pick<TlsColumns, 'tlsCertificates'> | undefined): TlsSettings | null {
  const text = stored?.tlsCertificates ?? null
  return text === null ? null : storedTls(text)
}

const isEmpty = ({ clientCertificate, clientKey, certificateAuthority }: Merged): boolean =>
  clientCertificate === null && clientKey === null && certificateAuthority === null

function expired(member: 'clientCertificate' | 'certificateAuthority', { validTo }: Certificate): InputIssue {
  return issue([member], 'not_allowed', `The certificate expired on ${validTo.toISOString()}.`)
}

const issue = (path: readonly string[], code: ItemCode, detail: string) =>
  issueOf(['tls', ...path], code, detail)

interface Certificate {
  readonly subject: string
  readonly validTo: Date
  isOf(key: KeyObject): boolean
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
const CERTIFICATES_MAX = 100

/** The certificates of a PEM text, in its order; null when it holds none, too many, or one that cannot be read. */
function certificatesOf(pem: string): Certificate[] | null {
  const blocks = pem.match(BLOCK) ?? []
  if (blocks.length === 0 || blocks.length > CERTIFICATES_MAX) return null
  // Other blocks, such as a key, must not be stored in a column that every reader sees.
  if (pem.replaceAll(BLOCK, '').includes('-----BEGIN')) return null
  try {
    return blocks.map((block) => {
      const certificate = new X509Certificate(block)
      return {
        subject: certificate.subject.replaceAll('\n', ', '),
        validTo: new Date(certificate.validTo),
        isOf: (key) => certificate.checkPrivateKey(key),
      }
    })
  } catch {
    return null
  }
}

/** The private key of a PEM text; null when it holds none, or one with a passphrase. */
function privateKeyOf(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}

/** The expiry of valid settings: that of our own certificate, or of the last authority, whichever is first. */
function endOf(certificates: Omit<Merged, 'clientKey'>): Date {
  const [own] = certificatesOf(certificates.clientCertificate ?? '') ?? []
  const authorities = certificatesOf(certificates.certificateAuthority ?? '') ?? []
  const lastAuthority = Math.max(...authorities.map(({ validTo }) => validTo.getTime()))
  const ends = [own?.validTo.getTime(), authorities.length === 0 ? undefined : lastAuthority]
  return new Date(Math.min(...ends.filter((end) => end !== undefined)))
}
