import { z } from 'zod'
import { optional, Timestamp } from '../api/values.ts'
import { AUTH_KINDS } from '../deliveries/index.ts'

const TEXT_MAX = 8192

/** Text of one header field, or a part of one. */
const fieldText = z
  .string()
  .max(TEXT_MAX)
  .refine((text) => !/^\s|\s$|\p{Cc}/u.test(text), {
    params: { code: 'bad_format' },
    message: 'The value must be one line, without control characters and surrounding blanks.',
  })

const secretText = fieldText.min(1)

/** Input of an action's credentials. The members of each kind are checked after parsing. */
export const AuthInput = z
  .object({
    kind: z.enum(AUTH_KINDS),
    token: optional(secretText).meta({ description: 'bearer; write-only' }),
    username: optional(fieldText).meta({ description: 'basic' }),
    password: optional(secretText).meta({ description: 'basic; write-only' }),
    name: optional(z.string().max(256)).meta({ description: 'header: its name' }),
    value: optional(secretText).meta({ description: 'header; write-only' }),
    tokenUrl: optional(z.string()).meta({ description: 'oauth2ClientCredentials: token endpoint, https' }),
    clientId: optional(secretText).meta({ description: 'oauth2ClientCredentials' }),
    clientSecret: optional(secretText).meta({ description: 'oauth2ClientCredentials; write-only' }),
    scope: optional(fieldText).meta({
      description: 'oauth2ClientCredentials: scopes, with spaces between; "" for none',
    }),
  })
  .nullish()
  .meta({
    description:
      'forward: credentials for the receiver; null = none, which is the default. In a change of the same kind members that are left out stay',
  })

/** {@link AuthInput} after parsing; undefined leaves what is stored. */
export type AuthInput = z.output<typeof AuthInput>

/** The credentials of an action without their secret. */
export const Auth = z
  .object({
    kind: z.enum(AUTH_KINDS),
    isSet: z.boolean().meta({ description: 'Whether there is a secret' }),
    setAt: Timestamp.nullable().meta({ description: 'When the credentials were last set' }),
    username: z.string().nullable(),
    name: z.string().nullable(),
    tokenUrl: z.string().nullable(),
    clientId: z.string().nullable(),
    scope: z.string().nullable(),
  })
  .meta({ id: 'ActionAuth' })
