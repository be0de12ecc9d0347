import { type ReactNode, useId } from 'react'

/** What a control needs to belong to its field. */
export interface FieldIds {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
}

interface Props {
  readonly label: ReactNode
  /** What the API says is wrong with it; empty when nothing. */
  readonly problem?: string
  readonly hint?: ReactNode
  readonly children: (ids: FieldIds) => ReactNode
}

/** A control with its name, what it is for, and what is wrong with it. */
export function Field({ label, problem = '', hint, children }: Props) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': problem !== '', 'aria-describedby': `${id}-about` })}
      <p
        id={`${id}-about`}
        className={problem === '' ? 'hint' : 'field-problem'}
        hidden={problem === '' && hint === undefined}
      >
        {problem === '' ? hint : problem}
      </p>
    </div>
  )
}
