import { ago } from '../words/format.ts'
import { Button } from './Button.tsx'
import { Field } from './Field.tsx'

interface Props {
  readonly label: string
  /** When the stored one was set; null without one. */
  readonly setAt: string | null
  /** The typed secret; null keeps the stored one. */
  readonly value: string | null
  readonly problem: string
  /** More than one makes it an area of text, for keys. */
  readonly rows?: number
  readonly onChange: (value: string | null) => void
}

/** A secret: written, never read. The stored one is shown as dots until it is replaced. */
export function SecretField({ label, setAt, value, problem, rows = 1, onChange }: Props) {
  const isKept = setAt !== null && value === null
  return (
    <Field
      label={label}
      problem={problem}
      hint={setAt === null ? undefined : `Set ${ago(setAt)}. Never shown again.`}
    >
      {(ids) => (
        <span className="acts">
          {isKept || rows === 1 ? (
            <input
              {...ids}
              className="input mono grow"
              type="password"
              autoComplete="new-password"
              value={isKept ? '••••••••' : (value ?? '')}
              readOnly={isKept}
              onChange={({ target }) => onChange(target.value)}
            />
          ) : (
            <textarea
              {...ids}
              className="textarea mono grow"
              rows={rows}
              spellCheck={false}
              value={value ?? ''}
              onChange={({ target }) => onChange(target.value)}
            />
          )}
          {setAt !== null && (
            <Button onClick={() => onChange(isKept ? '' : null)}>
              {isKept ? 'Replace…' : 'Keep current'}
            </Button>
          )}
        </span>
      )}
    </Field>
  )
}
