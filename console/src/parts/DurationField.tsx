import type { ReactNode } from 'react'
import { Field, Select } from './Field.tsx'

const UNITS = [
  ['days', 86_400],
  ['hours', 3600],
  ['minutes', 60],
  ['seconds', 1],
] as const

const NAMES = UNITS.map(([value]) => ({ value, words: value }))

export interface Duration {
  readonly amount: string
  readonly unit: (typeof UNITS)[number][0]
}

/** Seconds in the longest unit that divides them evenly. */
export function inUnits(seconds: number): Duration {
  const [unit, size] = UNITS.find(([, one]) => seconds >= one && seconds % one === 0) ?? UNITS[2]
  return { amount: String(seconds / size), unit }
}

/** A number that no setting can have: the API refuses it at its field, while it would take the null of a NaN for an absent member. */
const REFUSED = -1

/** The number in a text, times `size`; a number that the API refuses if there is none. */
export function typedNumber(text: string, size = 1): number {
  const value = text.trim() === '' ? Number.NaN : Number(text) * size
  return Number.isFinite(value) ? value : REFUSED
}

/** Converts to whole seconds; a number that the API refuses if the amount is none. */
export function secondsOf({ amount, unit }: Duration): number {
  const size = UNITS.find(([name]) => name === unit)?.[1] ?? 1
  return Math.round(typedNumber(amount, size))
}

interface Props {
  readonly label: string
  readonly problem: string
  readonly hint?: ReactNode
  readonly value: Duration
  readonly onChange: (value: Duration) => void
}

/** A duration, as a number and a unit. */
export function DurationField({ label, problem, hint, value, onChange }: Props) {
  return (
    <Field label={label} problem={problem} hint={hint}>
      {(ids) => (
        <span className="acts">
          <input
            {...ids}
            className="input short"
            inputMode="decimal"
            value={value.amount}
            onChange={({ target }) => onChange({ ...value, amount: target.value })}
          />
          <Select
            label={`${label}: unit`}
            value={value.unit}
            options={NAMES}
            onChange={(unit) => onChange({ ...value, unit })}
          />
        </span>
      )}
    </Field>
  )
}

const CHOICES = [
  { value: 0, words: 'Ends now' },
  { value: 3600, words: '1 hour' },
  { value: 86_400, words: '1 day' },
  { value: 604_800, words: '1 week' },
  { value: 2_592_000, words: '30 days' },
]

export const OVERLAP_SECONDS = 86_400

/** Choices of how long the replaced value stays valid next to the new one, up to `max` seconds. */
export const overlaps = (max: number) => CHOICES.filter(({ value }) => value <= max)
