import { Button } from '../parts/Button.tsx'
import { Field } from '../parts/Field.tsx'
import type { Action } from '../trpc.ts'
import { ago } from '../words/format.ts'

interface Props {
  readonly signing: Action['signing'] | undefined
  /** The typed secret; null keeps the stored one. */
  readonly value: string | null
  readonly problem: string
  readonly onChange: (value: string | null) => void
  readonly scheme: Action['signing']['scheme']
}

const BYTES = 24

/** Generates a secret in the format of the scheme. */
function newSecret(scheme: Props['scheme']): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES))
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `whsec_${scheme === 'creel' ? hex : btoa(String.fromCharCode(...bytes))}`
}

/** The secret that signs deliveries. It can be set, but not read. */
export function SigningSecret({ signing, value, problem, onChange, scheme }: Props) {
  const isSet = signing?.signed === true
  if (value === null) {
    return (
      <div className="acts">
        <span>
          {isSet ? `Signed. The secret was set ${ago(signing.setAt)}.` : 'Deliveries are not signed.'}
        </span>
        <Button look="small" onClick={() => onChange('')}>
          {isSet ? 'Rotate…' : 'Sign deliveries…'}
        </Button>
      </div>
    )
  }
  return (
    <Field
      label="Signing secret"
      problem={problem}
      hint={
        isSet
          ? 'Both signatures are sent for 24 hours, so that the receiver can switch. Leave blank to stop signing.'
          : 'At least 16 characters. Save it now: it is not shown again.'
      }
    >
      {(ids) => (
        <span className="acts">
          <input
            {...ids}
            className="input mono grow"
            value={value}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => onChange(target.value)}
          />
          <Button onClick={() => onChange(newSecret(scheme))}>Generate</Button>
          <Button look="quiet" onClick={() => onChange(null)}>
            {isSet ? 'Keep current' : 'Leave unsigned'}
          </Button>
        </span>
      )}
    </Field>
  )
}
