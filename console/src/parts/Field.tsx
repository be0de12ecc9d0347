import { type ReactNode, useId } from 'react'
import { ago } from '../words/format.ts'
import { withBreaksOf } from '../words/headers.ts'
import { Button } from './Button.tsx'

/** Attributes that connect a control to its field. */
export interface FieldIds {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
}

interface Named {
  readonly label: ReactNode
  /** The API's message about it; empty if there is none. */
  readonly problem?: string
  readonly hint?: ReactNode
}

/** A control with its label, its hint, and its problem. */
export function Field({
  label,
  problem = '',
  hint,
  children,
}: Named & { readonly children: (ids: FieldIds) => ReactNode }) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': problem !== '', 'aria-describedby': `${id}-about` })}
      <About id={`${id}-about`} problem={problem} hint={hint} />
    </div>
  )
}

function About({
  id,
  problem,
  hint,
}: {
  readonly id: string
  readonly problem: string
  readonly hint: ReactNode
}) {
  return (
    <p
      id={id}
      className={problem === '' ? 'hint' : 'field-problem'}
      hidden={problem === '' && hint === undefined}
    >
      {problem === '' ? hint : problem}
    </p>
  )
}

interface TextProps extends Named {
  readonly value: string
  readonly placeholder?: string | undefined
  /** `code` is shown in a monospaced font. */
  readonly kind?: 'text' | 'code' | 'number' | 'url' | 'email' | 'password'
  /** More than one makes it an area of text. */
  readonly rows?: number
  readonly isRequired?: boolean
  readonly inputMode?: 'numeric' | 'decimal'
  readonly onChange: (value: string) => void
}

export function TextField({
  label,
  problem,
  hint,
  kind = 'text',
  rows = 1,
  isRequired = false,
  ...rest
}: TextProps) {
  const isPlain = kind === 'text' || kind === 'number' || kind === 'email'
  const shared = {
    ...rest,
    spellCheck: kind === 'text',
    // An area of text has LF only.
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      rest.onChange(withBreaksOf(rest.value, target.value)),
  }
  return (
    <Field label={label} problem={problem ?? ''} hint={hint}>
      {(ids) =>
        rows > 1 ? (
          <textarea {...ids} {...shared} className="textarea mono" rows={rows} />
        ) : (
          <input
            {...ids}
            {...shared}
            className={isPlain ? 'input' : 'input mono'}
            type={kind === 'code' ? 'text' : kind}
            autoComplete="off"
            required={isRequired}
          />
        )
      }
    </Field>
  )
}

export interface Option<Value extends string | number = string> {
  readonly value: Value
  readonly words: string
}

/** Options of things that have an id and a name, after one for none if `none` names it. */
export function named(
  items: readonly { readonly id: string; readonly name: string }[] = [],
  none?: string,
): Option[] {
  const options = items.map(({ id, name }) => ({ value: id, words: name }))
  return none === undefined ? options : [{ value: '', words: none }, ...options]
}

/** Options whose words are their values. */
export const choices = <Value extends string>(...values: Value[]): Option<Value>[] =>
  values.map((value) => ({ value, words: value }))

interface ChoiceProps<Value extends string | number> {
  readonly value: Value
  readonly options: readonly Option<Value>[]
  readonly isDisabled?: boolean
  readonly onChange: (value: Value) => void
}

/** A choice of one from a list, with a name of its own or of its field. */
export function Select<Value extends string | number>({
  options,
  onChange,
  isDisabled = false,
  label,
  ...rest
}: ChoiceProps<Value> & Partial<FieldIds> & { readonly label?: string }) {
  // A value that the list lacks is shown as it is: a browser would show the first option.
  const isUnlisted = rest.value !== '' && !options.some(({ value }) => value === rest.value)
  return (
    <select
      {...rest}
      className="select"
      aria-label={label}
      disabled={isDisabled}
      onChange={({ target }) => {
        const chosen = options.find(({ value }) => String(value) === target.value)
        if (chosen !== undefined) onChange(chosen.value)
      }}
    >
      {isUnlisted && (
        <option value={rest.value}>
          {options.some(({ value }) => value !== '') ? `${rest.value} (not listed)` : '…'}
        </option>
      )}
      {options.map(({ value, words }) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  )
}

/** A choice of one from a list, in a form. */
export function SelectField<Value extends string | number>({
  label,
  problem,
  hint,
  ...rest
}: Named & ChoiceProps<Value>) {
  return (
    <Field label={label} problem={problem ?? ''} hint={hint}>
      {(ids) => <Select {...ids} {...rest} />}
    </Field>
  )
}

interface CheckProps extends Named {
  readonly value: boolean
  readonly isDisabled?: boolean
  readonly onChange: (value: boolean) => void
}

export function CheckField({ label, problem = '', hint, value, isDisabled = false, onChange }: CheckProps) {
  const about = useId()
  return (
    <div className="field">
      <label className="check">
        <input
          type="checkbox"
          checked={value}
          disabled={isDisabled}
          aria-invalid={problem !== ''}
          aria-describedby={about}
          onChange={({ target }) => onChange(target.checked)}
        />
        {label}
      </label>
      <About id={about} problem={problem} hint={hint} />
    </div>
  )
}

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
