import { type ReactNode, useId } from 'react'

interface Props {
  readonly label: ReactNode
  readonly isOn: boolean
  readonly problem?: string
  readonly hint?: ReactNode
  readonly onChange: (isOn: boolean) => void
}

/** One yes or no of a form, with its hint, or what is wrong with it. */
export function CheckField({ label, isOn, problem = '', hint, onChange }: Props) {
  const about = useId()
  return (
    <div className="field">
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          aria-invalid={problem !== ''}
          aria-describedby={about}
          onChange={({ target }) => onChange(target.checked)}
        />
        {label}
      </label>
      <p id={about} className={problem === '' ? 'hint' : 'field-problem'}>
        {problem === '' ? hint : problem}
      </p>
    </div>
  )
}
