import { Field } from '../parts/Field.tsx'
import type { Answers } from '../trpc.ts'

type SettingDefinition = Answers['alertChannels']['kinds']['items'][number]['fields'][number]

interface Props {
  readonly field: SettingDefinition
  readonly problem: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** Control of one setting of a channel, by the setting's type. */
export function SettingField({ field, problem, value, onChange }: Props) {
  const { help, label, options, required, type } = field
  return (
    <Field label={required ? label : `${label} (optional)`} problem={problem} hint={help ?? undefined}>
      {(ids) =>
        options !== null ? (
          <select {...ids} className="select" value={value} onChange={({ target }) => onChange(target.value)}>
            <option value="">{required ? 'Choose…' : 'Default'}</option>
            {options.map((option) => (
              <option key={option}>{option}</option>
            ))}
          </select>
        ) : type === 'headers' ? (
          <textarea
            {...ids}
            className="textarea mono"
            rows={2}
            placeholder="Name: value"
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <input
            {...ids}
            className="input"
            type={type === 'url' ? 'url' : 'text'}
            inputMode={type === 'integer' ? 'numeric' : undefined}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Field>
  )
}

/**
 * Converts typed settings to the API's input: numbers as numbers, fields as an object. Empty settings return to their
 * default.
 */
export function settingsOf(
  fields: readonly SettingDefinition[],
  typed: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const settings: Record<string, unknown> = {}
  for (const { name, type } of fields) {
    const value = typed[name]
    if (value === undefined) continue
    if (type === 'integer' && /^-?\d+$/.test(value)) settings[name] = Number(value)
    else if (type === 'headers' && value.trim() !== '') settings[name] = headersOf(value)
    else settings[name] = value
  }
  return settings
}

function headersOf(text: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const at = line.indexOf(':')
    headers[(at < 0 ? line : line.slice(0, at)).trim()] = at < 0 ? '' : line.slice(at + 1).trim()
  }
  return headers
}
