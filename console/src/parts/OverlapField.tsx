import { Field } from './Field.tsx'

const CHOICES = [
  { seconds: 0, words: 'Ends now' },
  { seconds: 3600, words: '1 hour' },
  { seconds: 86_400, words: '1 day' },
  { seconds: 604_800, words: '1 week' },
  { seconds: 2_592_000, words: '30 days' },
] as const

/** The default choice. */
export const OVERLAP_SECONDS: number = 86_400

interface Props {
  readonly label: string
  readonly hint: string
  /** In seconds. */
  readonly value: number
  /** The longest choice, in seconds. */
  readonly max: number
  readonly onChange: (seconds: number) => void
}

/** Choice of how long the replaced value stays valid next to the new one. */
export function OverlapField({ label, hint, value, max, onChange }: Props) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select
          {...ids}
          className="input"
          value={value}
          onChange={({ target }) => onChange(Number(target.value))}
        >
          {CHOICES.filter(({ seconds }) => seconds <= max).map(({ seconds, words }) => (
            <option key={seconds} value={seconds}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
