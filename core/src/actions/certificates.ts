import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'

export interface Certificate {
  readonly subject: string
  readonly validTo: Date
  isOf(key: KeyObject): boolean
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
/** Certificates of one text. */
const CERTIFICATES_MAX = 100

/** The certificates of a PEM text, in its order; null when it holds none, too many, or one that cannot be read. */
export function certificatesOf(pem: string): Certificate[] | null {
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
export function privateKeyOf(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}

/** The expiry of valid settings: that of our own certificate, or of the last authority, whichever is first. */
export function endOf(certificates: {
  readonly clientCertificate: string | null
  readonly certificateAuthority: string | null
}): Date {
  const [own] = certificatesOf(certificates.clientCertificate ?? '') ?? []
  const authorities = certificatesOf(certificates.certificateAuthority ?? '') ?? []
  const lastAuthority = Math.max(...authorities.map(({ validTo }) => validTo.getTime()))
  const ends = [own?.validTo.getTime(), authorities.length === 0 ? undefined : lastAuthority]
  return new Date(Math.min(...ends.filter((end) => end !== undefined)))
}
