import { z } from 'zod'

/** TLS settings as stored in the clear: everything but the key. */
const StoredTls = z.object({
  clientCertificate: z.string().nullable(),
  certificateAuthority: z.string().nullable(),
  /** The earliest expiry of a certificate that deliveries need. */
  expiresAt: z.iso.datetime(),
})

/** TLS settings of a forward action without the key. */
export type TlsSettings = z.output<typeof StoredTls>

export function tlsText(settings: TlsSettings): string {
  return JSON.stringify(settings)
}

/** The settings of a column that {@link tlsText} wrote. */
export function storedTls(text: string): TlsSettings {
  return StoredTls.parse(JSON.parse(text))
}
