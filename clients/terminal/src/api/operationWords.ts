import { usageError } from '../clientError.ts'
import { closestWords } from '../closest.ts'
import { jsonOrText } from '../words.ts'
import type { ApiOperation, OperationValue } from './description.ts'

/** The words of a command line after the name of an operation. */
export interface OperationWords {
  /** Values by their names, in their kinds. */
  readonly values: ReadonlyMap<OperationValue, unknown>
  /** `--body`: JSON, `@file`, or `-` for stdin. */
  readonly body: string | undefined
  readonly asksForHelp: boolean
}

/** A name as an option: `--response-status-code`. */
export const flagOf = (name: string): string =>
  `--${name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()}`

/** Spelling does not matter: `responseStatusCode`, `response-status-code`. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/**
 * Reads options and words: `--name value`, `--name=value`, `--flag`, a list by repeating its option. Words without an
 * option are the values of the path, in its order.
 *
 * @throws ClientError for an option that the operation has not, or a value of the wrong kind
 */
export function readWords(operation: ApiOperation, words: readonly string[]): OperationWords {
  const values = new Map<OperationValue, unknown>()
  const ofPath = operation.values.filter(({ place }) => place === 'path')
  let body: string | undefined
  const left = [...words]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === '--help' || word === '-h') return { values, body, asksForHelp: true }
    if (!word.startsWith('--')) {
      const next = ofPath.find((value) => !values.has(value))
      if (next === undefined)
        throw usageError(`"${word}" is not an option of ${operation.name}.`, helpOf(operation))
      values.set(next, word)
      continue
    }
    const [name = '', ...rest] = word.slice(2).split('=')
    const given = rest.length > 0 ? rest.join('=') : undefined
    if (name === 'body' && !operation.values.some((value) => value.name === 'body')) {
      body = given ?? left.shift()
      continue
    }
    const value = valueNamed(operation, name)
    const text = given ?? (value.kind === 'boolean' && !isBoolean(left[0]) ? 'true' : left.shift())
    if (text === undefined) throw usageError(`${flagOf(value.name)} needs a value.`, helpOf(operation))
    values.set(
      value,
      value.kind === 'list' ? [...listOf(values.get(value)), ...itemsOf(text)] : read(value, text),
    )
  }
  return { values, body, asksForHelp: false }
}

const helpOf = ({ name }: ApiOperation) => `\`creel api ${name} --help\` shows its options.`

const isBoolean = (text: string | undefined) => text === 'true' || text === 'false'

function valueNamed(operation: ApiOperation, name: string): OperationValue {
  const called = (wanted: string) => operation.values.find((value) => plain(value.name) === plain(wanted))
  // The short form of every other command.
  const found = called(name) ?? (name === 'endpoint' ? called('endpointId') : undefined)
  if (found !== undefined) return found
  const close = closestWords(
    operation.values.map((value) => flagOf(value.name)),
    `--${name}`,
  )
  throw usageError(
    `${operation.name} has no option --${name}.`,
    close.length > 0 ? `Did you mean ${close.join(' or ')}?` : helpOf(operation),
  )
}

function read({ name, kind }: OperationValue, text: string): unknown {
  if (kind === 'text') return text
  const value = jsonOrText(text)
  if (kind === 'json' || value === null) return value
  if (typeof value === kind) return value
  throw usageError(
    `${flagOf(name)} must be ${kind === 'number' ? 'a number' : 'true or false'}, not "${text}".`,
  )
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const itemsOf = (text: string): readonly unknown[] => [jsonOrText(text)].flat()
