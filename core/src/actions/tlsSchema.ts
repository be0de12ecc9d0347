import { z } from 'zod'
import { optional, Timestamp } from '../api/values.ts'

/** The longest PEM text, in characters. */
const PEM_MAX = 65_536

const pem = optional(z.string().max(PEM_MAX))

/** Input of an action's TLS settings. */
export const TlsInput = z
  .object({
    clientCertificate: pem.meta({
      description: 'PEM: the client certificate, then its intermediate certificates; "" for none',
    }),
    clientKey: pem.meta({
      description: 'PEM, without a passphrase; write-only. It goes with its certificate',
    }),
    certificateAuthority: pem.meta({
      description: 'PEM: the only CAs that may sign the receiver\'s certificate; "" for the system\'s CAs',
    }),
  })
  .nullish()
  .meta({
    description:
      'forward: client certificate and private authority; null = none, which is the default. Members that are left out stay',
  })

/** {@link TlsInput} after parsing; undefined leaves what is stored. */
export type TlsInput = z.output<typeof TlsInput>

/** The TLS settings of an action without the key. */
export const Tls = z
  .object({
    clientCertificate: z.string().nullable(),
    certificateAuthority: z.string().nullable(),
    isSet: z.boolean().meta({ description: 'Whether there is a client key' }),
    setAt: Timestamp.nullable(),
    subject: z.string().nullable().meta({ description: 'Subject of the client certificate' }),
    expiresAt: z.iso.datetime().meta({
      description:
        'Expiry of the client certificate or of the last CA, whichever is earlier. An alert is sent 14 days before',
    }),
  })
  .meta({ id: 'ActionTls' })
