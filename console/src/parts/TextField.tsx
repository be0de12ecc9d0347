import type { ReactNode } from 'react'
import { Field } from './Field.tsx'

interface Props {
  readonly label: ReactNode
  readonly value: string
  readonly problem?: string
  readonly hint?: ReactNode
  readonly placeholder?: string
  /** `code` is shown in a monospaced font. */
  readonly kind?: 'text' | 'code' | 'number' | 'url'
  /** More than one makes it an area of text. */
  readonly rows?: number
  readonly onChange: (value: string) => void
}

/** One text of a form, with its name and what is wrong with it. */
export function TextField({
  label,
  value,
  problem,
  hint,
  placeholder,
  kind = 'text',
  rows = 1,
  onChange,
}: Props) {
  return (
    <Field label={label} problem={problem ?? ''} hint={hint}>
      {(ids) => {
        const shared = { ...ids, value, placeholder, spellCheck: kind === 'text' }
        return rows > 1 ? (
          <textarea
            {...shared}
            className="textarea mono"
            rows={rows}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <input
            {...shared}
            className={kind === 'text' || kind === 'number' ? 'input' : 'input mono'}
            type={kind === 'code' ? 'text' : kind}
            autoComplete="off"
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }}
    </Field>
  )
}
