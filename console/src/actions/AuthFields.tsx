import { Field } from '../parts/Field.tsx'
import { SecretField } from '../parts/SecretField.tsx'
import { TextField } from '../parts/TextField.tsx'
import type { Action } from '../trpc.ts'

type Kind = Action['auth']['kind']

/** Credentials while they are written, without their secret. */
export interface AuthDraft {
  readonly kind: Kind
  readonly username: string
  readonly name: string
  readonly tokenUrl: string
  readonly clientId: string
  readonly scope: string
}

const KINDS: Readonly<
  Record<Kind, { readonly words: string; readonly secret: string; readonly label: string }>
> = {
  none: { words: 'None', secret: '', label: '' },
  bearer: { words: 'Bearer token', secret: 'token', label: 'Token' },
  basic: { words: 'Name and password', secret: 'password', label: 'Password' },
  header: { words: 'Header', secret: 'value', label: 'Value' },
  oauth2ClientCredentials: {
    words: 'OAuth 2 client credentials',
    secret: 'clientSecret',
    label: 'Client secret',
  },
}

/** Saved credentials, to be changed. */
export function draftOfAuth(auth: Action['auth'] | undefined): AuthDraft {
  const { kind = 'none', username, name, tokenUrl, clientId, scope } = auth ?? {}
  return {
    kind,
    username: username ?? '',
    name: name ?? '',
    tokenUrl: tokenUrl ?? '',
    clientId: clientId ?? '',
    scope: scope ?? '',
  }
}

/**
 * The credentials as the API takes them.
 *
 * @param secret null keeps the one that is set
 */
export function authOf(
  { kind, username, name, tokenUrl, clientId, scope }: AuthDraft,
  secret: string | null,
) {
  if (kind === 'none') return null
  const given = secret === null ? {} : { [KINDS[kind].secret]: secret }
  if (kind === 'basic') return { kind, username, ...given }
  if (kind === 'header') return { kind, name, ...given }
  if (kind === 'bearer') return { kind, ...given }
  return { kind, tokenUrl, clientId, scope, ...given }
}

interface Props {
  /** The stored credentials; undefined for a new action. */
  readonly stored: Action['auth'] | undefined
  readonly value: AuthDraft
  /** The typed secret; null keeps the stored one. */
  readonly secret: string | null
  /** The API's complaint about a member. */
  readonly at: (member: string) => string
  readonly onChange: (members: Partial<AuthDraft>) => void
  readonly onSecret: (secret: string | null) => void
}

/** Credentials for the receiver. Their secret is written, never read. */
export function AuthFields({ stored, value, secret, at, onChange, onSecret }: Props) {
  const { kind } = value
  const text = (member: Exclude<keyof AuthDraft, 'kind'>, label: string, hint?: string) => (
    <TextField
      label={label}
      kind={member === 'tokenUrl' ? 'url' : 'code'}
      value={value[member]}
      problem={at(member)}
      hint={hint}
      onChange={(next) => onChange({ [member]: next })}
    />
  )
  return (
    <>
      <Field label="Credentials" problem={at('kind')}>
        {(ids) => (
          <select
            {...ids}
            className="select"
            value={kind}
            onChange={({ target }) => {
              const next = Object.keys(KINDS).find((each): each is Kind => each === target.value)
              onChange({ kind: next ?? 'none' })
              onSecret(null)
            }}
          >
            {Object.entries(KINDS).map(([each, { words }]) => (
              <option key={each} value={each}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
      {kind === 'basic' && text('username', 'Name')}
      {kind === 'header' &&
        text('name', 'Header name', 'For example X-Api-Key. Replaces a captured header of this name.')}
      {kind === 'oauth2ClientCredentials' && (
        <>
          {text('tokenUrl', 'Token endpoint')}
          <div className="row-2">
            {text('clientId', 'Client ID')}
            {text('scope', 'Scope', 'Optional. Separate several with spaces.')}
          </div>
        </>
      )}
      {kind !== 'none' && (
        <SecretField
          label={KINDS[kind].label}
          setAt={stored?.kind === kind ? stored.setAt : null}
          value={secret}
          problem={at(KINDS[kind].secret)}
          onChange={onSecret}
        />
      )}
    </>
  )
}
