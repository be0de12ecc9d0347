import { type ReactNode, useId } from 'react'

/** Attributes that connect a control to its field. */
export interface FieldIds {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string
}

interface Props {
  readonly label: ReactNode
  /** The API's message about it; empty if there is none. */
  readonly problem?: string
  readonly hint?: ReactNode
  readonly children: (ids: FieldIds) => ReactNode
}

/** A control with its label, its hint, and its problem. */
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
