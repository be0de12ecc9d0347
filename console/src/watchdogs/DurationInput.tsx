import { Field } from '../parts/Field.tsx'
import { UNIT_NAMES, type Unit } from './words.ts'

interface Duration {
  readonly amount: string
  readonly unit: Unit
}

interface Props {
  readonly label: string
  readonly problem: string
  readonly hint?: string
  readonly value: Duration
  readonly onChange: (value: Duration) => void
}

/** Input of a duration, as a number and a unit. */
export function DurationInput({ label, problem, hint, value, onChange }: Props) {
  return (
    <Field label={label} problem={problem} hint={hint}>
      {(ids) => (
        <span className="acts">
          <input
            {...ids}
            className="input"
            style={{ inlineSize: '7em' }}
            inputMode="decimal"
            value={value.amount}
            onChange={({ target }) => onChange({ ...value, amount: target.value })}
          />
          <select
            className="select"
            aria-label={`${label}: unit`}
            value={value.unit}
            onChange={({ target }) =>
              onChange({ ...value, unit: UNIT_NAMES.find((unit) => unit === target.value) ?? 'minutes' })
            }
          >
            {UNIT_NAMES.map((unit) => (
              <option key={unit}>{unit}</option>
            ))}
          </select>
        </span>
      )}
    </Field>
  )
}
