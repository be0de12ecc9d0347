import { SecretField, SelectField, TextField } from '../parts/Field.tsx'
import type { Part } from '../parts/useForm.ts'
import type { Action } from '../trpc.ts'

/** Credentials while they are written, without their secret. */
export type AuthDraft = ReturnType<typeof draftOfAuth>

const KINDS = [
  { value: 'none', words: 'None', secret: '', label: '' },
  { value: 'bearer', words: 'Bearer token', secret: 'token', label: 'Token' },
  { value: 'basic', words: 'Name and password', secret: 'password', label: 'Password' },
  { value: 'header', words: 'Header', secret: 'value', label: 'Value' },
  {
    value: 'oauth2ClientCredentials',
    words: 'OAuth 2 client credentials',
    secret: 'clientSecret',
    label: 'Client secret',
  },
] as const

const secretOf = (kind: AuthDraft['kind']) => KINDS.find(({ value }) => value === kind) ?? KINDS[0]

/** Saved credentials, to be changed. */
export function draftOfAuth(auth: Action['auth'] | undefined) {
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
  const given = secret === null ? {} : { [secretOf(kind).secret]: secret }
  if (kind === 'basic') return { kind, username, ...given }
  if (kind === 'header') return { kind, name, ...given }
  if (kind === 'bearer') return { kind, ...given }
  return { kind, tokenUrl, clientId, scope, ...given }
}

interface Props {
  readonly form: Part<AuthDraft>
  /** The stored credentials; undefined for a new action. */
  readonly stored: Action['auth'] | undefined
  /** The typed secret; null keeps the stored one. */
  readonly secret: string | null
  readonly onSecret: (secret: string | null) => void
}

/** Credentials for the receiver. Their secret is written, never read. */
export function AuthFields({ form, stored, secret, onSecret }: Props) {
  const { kind } = form.draft
  const text = (member: Exclude<keyof AuthDraft, 'kind'>, label: string, hint?: string) => (
    <TextField
      label={label}
      kind={member === 'tokenUrl' ? 'url' : 'code'}
      hint={hint}
      {...form.field(member)}
    />
  )
  return (
    <>
      <SelectField
        label="Credentials"
        options={KINDS}
        {...form.field('kind')}
        onChange={(next) => {
          form.change({ kind: next })
          onSecret(null)
        }}
      />
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
          label={secretOf(kind).label}
          setAt={stored?.kind === kind ? stored.setAt : null}
          value={secret}
          problem={form.at(secretOf(kind).secret)}
          onChange={onSecret}
        />
      )}
    </>
  )
}
