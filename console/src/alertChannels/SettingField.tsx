import { SelectField, TextField } from '../parts/Field.tsx'
import type { Answers } from '../trpc.ts'
import { headerLines, headersOf } from '../words/headers.ts'

type SettingDefinition = Answers['alertChannels']['kinds']['items'][number]['fields'][number]

interface Props {
  readonly field: SettingDefinition
  readonly problem: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** Control of one setting of a channel, by the setting's type. */
export function SettingField({ field: { help, label, options, required, type }, ...rest }: Props) {
  const shared = { ...rest, label: required ? label : `${label} (optional)`, hint: help ?? undefined }
  if (options !== null) {
    const none = { value: '', words: required ? 'Choose…' : 'Default' }
    return <SelectField {...shared} options={[none, ...options.map((value) => ({ value, words: value }))]} />
  }
  if (type === 'headers') return <TextField {...shared} rows={2} placeholder="Name: value" />
  return (
    <TextField
      {...shared}
      kind={type === 'url' ? 'url' : 'text'}
      {...(type === 'integer' && { inputMode: 'numeric' })}
    />
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

export const typedSettings = (settings: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, textOf(value)]))

function textOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return headerLines({ ...value }).join('\n')
  return value === null || value === undefined ? '' : String(value)
}
