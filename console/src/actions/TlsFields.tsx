import { SecretField } from '../parts/SecretField.tsx'
import { TextField } from '../parts/TextField.tsx'
import type { Action } from '../trpc.ts'

/** TLS settings while they are written, without the key. */
export interface TlsDraft {
  readonly clientCertificate: string
  readonly certificateAuthority: string
}

/** Saved TLS settings, to be changed. */
export function draftOfTls(tls: Action['tls'] | undefined): TlsDraft {
  const { clientCertificate, certificateAuthority } = tls ?? {}
  return { clientCertificate: clientCertificate ?? '', certificateAuthority: certificateAuthority ?? '' }
}

/**
 * The TLS settings as the API takes them; null without any.
 *
 * @param clientKey null keeps the one that is set
 */
export function tlsOf({ clientCertificate, certificateAuthority }: TlsDraft, clientKey: string | null) {
  if (clientCertificate.trim() === '' && certificateAuthority.trim() === '' && clientKey === null) return null
  return {
    clientCertificate: clientCertificate.trim(),
    certificateAuthority: certificateAuthority.trim(),
    ...(clientKey === null ? {} : { clientKey }),
  }
}

interface Props {
  /** The stored settings; null or undefined without any. */
  readonly stored: Action['tls'] | undefined
  readonly value: TlsDraft
  /** The typed key; null keeps the stored one. */
  readonly clientKey: string | null
  /** The API's complaint about a member. */
  readonly at: (member: string) => string
  readonly onChange: (members: Partial<TlsDraft>) => void
  readonly onKey: (key: string | null) => void
}

const ROWS = 4
/** Characters of a date like `2026-12-03`. */
const DATE_LENGTH = 10

/** Fields for the certificate that we show to the receiver, and for the authority that its own must be signed by. */
export function TlsFields({ stored, value, clientKey, at, onChange, onKey }: Props) {
  return (
    <>
      {stored !== null && stored !== undefined && (
        <p className="hint">
          {stored.subject === null ? 'The certificate authority' : stored.subject} is valid until{' '}
          {stored.expiresAt.slice(0, DATE_LENGTH)}.
        </p>
      )}
      <TextField
        label="Client certificate"
        kind="code"
        rows={ROWS}
        value={value.clientCertificate}
        problem={at('clientCertificate')}
        placeholder="-----BEGIN CERTIFICATE-----"
        hint="PEM: the client certificate first, then the intermediate ones."
        onChange={(clientCertificate) => onChange({ clientCertificate })}
      />
      <SecretField
        label="Client key"
        setAt={stored?.isSet === true ? stored.setAt : null}
        value={clientKey}
        problem={at('clientKey')}
        rows={ROWS}
        onChange={onKey}
      />
      <TextField
        label="Certificate authority"
        kind="code"
        rows={ROWS}
        value={value.certificateAuthority}
        problem={at('certificateAuthority')}
        placeholder="-----BEGIN CERTIFICATE-----"
        hint="PEM: the CA of the receiver's certificate. Leave blank to trust the system's CAs."
        onChange={(certificateAuthority) => onChange({ certificateAuthority })}
      />
    </>
  )
}
