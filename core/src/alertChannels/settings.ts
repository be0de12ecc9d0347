import { type InputIssue, issue } from '../engine/issues.ts'
import { CONNECTION_FIELDS } from '../engine/words/index.ts'

/** Header names and values that a webhook channel adds. */
export type ExtraHeaders = Readonly<Record<string, string>>

/** The value of one setting; null for an optional one that is not set. */
export type SettingValue = string | number | null | ExtraHeaders

/** The settings of a channel: every field of its kind, with defaults filled in. */
export type ChannelSettings = Readonly<Record<string, SettingValue>>

/** Definition of a setting, for `GET /alert-channels/kinds` and for the checks on save. */
export interface SettingField {
  readonly name: string
  readonly label: string
  readonly type: 'string' | 'integer' | 'url' | 'select' | 'headers'
  readonly required: boolean
  /** The value of an absent setting; null for none. */
  readonly default: string | null
  /** For `select`: the choices. */
  readonly options: readonly string[] | null
  readonly help: string | null
  /** For `string`. */
  readonly maxCharacters?: number
  /** For `url`: whether plain http is allowed, as for a forward. */
  readonly plainHttp?: boolean
  /** For `string`: the required format, and its description. */
  readonly pattern?: { readonly regex: RegExp; readonly words: string }
}

/** An optional setting without default and choices, unless they are given. */
export const field = (
  given: Pick<SettingField, 'name' | 'label' | 'type' | 'help'> & Partial<SettingField>,
): SettingField => ({ required: false, default: null, options: null, ...given })

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/
const OWN_HEADERS = /^(content-(type|encoding)|proxy-.*|creel-.*|user-agent)$/i
const isRefused = (name: string) => OWN_HEADERS.test(name) || CONNECTION_FIELDS.has(name.toLowerCase())
const HEADERS_MAX = 10
const HEADER_VALUE_MAX = 1024

/**
 * Parses the settings of a create or update: checks each member against its field and merges it over the stored ones.
 * Null and absent members are unchanged, `""` resets an optional one to its default. Addresses are only checked to be
 * text here; `checkAddresses` runs the SSRF guard.
 *
 * @param input the `settings` object as sent; undefined when absent
 * @param stored the channel's current settings; an empty object on create
 * @param credentialLabel name of the kind's credential, for messages
 * @returns all settings and every wrong part, in document order. A member equal to the stored one is not validated
 *   again; missing required ones come last
 */
export function readSettings(
  fields: readonly SettingField[],
  input: Readonly<Record<string, unknown>> | undefined,
  stored: ChannelSettings,
  credentialLabel = 'credential',
): { settings: ChannelSettings; issues: InputIssue[] } {
  const issues: InputIssue[] = []
  const settings: Record<string, SettingValue> = {}
  for (const field of fields) settings[field.name] = stored[field.name] ?? field.default

  for (const [name, value] of Object.entries(input ?? {})) {
    const field = fields.find((candidate) => candidate.name === name)
    if (field === undefined) {
      const detail = `settings.${name} is not a setting of this kind. ${placesOf(fields, credentialLabel)}`
      issues.push(issue(['settings', name], 'unknown_field', detail))
    } else if (value === '' && !field.required) settings[name] = field.default
    else if (value !== null && !isStored(value, stored[name])) {
      const read = readSetting(field, value)
      if ('issues' in read) issues.push(...read.issues)
      else settings[name] = read.value
    }
  }

  for (const { name, label, required } of fields) {
    if (required && settings[name] === null && !issues.some(({ path }) => path[1] === name))
      issues.push(issue(['settings', name], 'required', `settings.${name} (${label}) is required.`))
  }
  return { settings, issues }
}

/** Hint about the right place of a value: a URL that is a credential is often mistaken for a setting. */
function placesOf(fields: readonly SettingField[], credentialLabel: string): string {
  const names = fields.map(({ name }) => `settings.${name}`).join(', ')
  const has = names === '' ? 'It has no settings' : `It has ${names}`
  return `${has}; its ${credentialLabel} is the member \`secret\`.`
}

/** A setting that is text; `''` when it is not set. */
export function textSetting(settings: ChannelSettings, name: string): string {
  const value = settings[name]
  return typeof value === 'string' ? value : ''
}

/** A setting that is a header list; empty when it is not set. */
export function headersSetting(settings: ChannelSettings, name: string): ExtraHeaders {
  const value = settings[name]
  return typeof value === 'object' && value !== null ? value : {}
}

const isStored = (value: unknown, stored: SettingValue | undefined) =>
  stored !== undefined && JSON.stringify(value) === JSON.stringify(stored)

type Read = { value: SettingValue } | { issues: InputIssue[] }

function readSetting(field: SettingField, value: unknown): Read {
  const path = ['settings', field.name]
  const wrong = (code: InputIssue['code'], words: string): Read => ({
    issues: [issue(path, code, `settings.${field.name} ${words}`)],
  })
  if (field.type === 'headers') return readHeaders(path, value)
  if (field.type === 'integer') {
    if (typeof value !== 'number' || !Number.isInteger(value)) return wrong('type', 'must be an integer.')
    return Number.isSafeInteger(value) && value > 0 ? { value } : wrong('out_of_range', 'must be positive.')
  }
  if (typeof value !== 'string') return wrong('type', 'must be a string.')
  if (field.type === 'select') {
    const options = field.options ?? []
    return options.includes(value)
      ? { value }
      : wrong('unknown_value', `must be one of ${options.join(', ')}.`)
  }
  if (value === '') return wrong('too_short', 'must not be empty.')
  if (field.type === 'url') return { value }
  const max = field.maxCharacters ?? 100
  if (value.length > max) return wrong('too_long', `must have at most ${max} characters.`)
  if (field.pattern !== undefined && !field.pattern.regex.test(value)) {
    return wrong('bad_format', `must be ${field.pattern.words}.`)
  }
  return { value }
}

function readHeaders(path: readonly string[], value: unknown): Read {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { issues: [issue(path, 'type', `${path.join('.')} must be an object of strings.`)] }
  }
  const issues: InputIssue[] = []
  const headers: Record<string, string> = {}
  const seen = new Set<string>()
  const members = Object.entries(value)
  if (members.length > HEADERS_MAX) {
    issues.push(issue(path, 'too_many', `At most ${HEADERS_MAX} headers can be added.`))
  }
  for (const [name, content] of members) {
    const at = [...path, name]
    if (!HEADER_NAME.test(name)) {
      issues.push(issue(at, 'bad_format', 'A header name must be a token.'))
    } else if (isRefused(name)) {
      issues.push(issue(at, 'not_allowed', `The header ${name} is set by the service.`))
    } else if (seen.has(name.toLowerCase())) {
      issues.push(issue(at, 'duplicate', `The header ${name} is given twice.`))
    } else if (typeof content !== 'string') {
      issues.push(issue(at, 'type', `The header ${name} must be a string.`))
    } else if (content.length > HEADER_VALUE_MAX) {
      issues.push(issue(at, 'too_long', `The header ${name} is too long.`))
    } else if (!/^[\t\x20-\x7e]*$/.test(content)) {
      issues.push(issue(at, 'bad_format', `The header ${name} must be printable ASCII.`))
    } else headers[name] = content
    seen.add(name.toLowerCase())
  }
  return issues.length > 0 ? { issues } : { value: headers }
}
