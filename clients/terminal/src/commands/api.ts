import type { Command } from 'commander'
import type { Sending } from 'creel-client'
import { type ApiClient, jsonSending, queryOf } from '../api/apiClient.ts'
import { type ApiOperation, type OperationValue, operationsOf } from '../api/description.ts'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { usageError } from '../clientError.ts'
import { closestWords } from '../closest.ts'
import { printHint, printJson, printTable, printText } from '../output/print.ts'
import { byteOutput, ReaderGone } from '../output/write.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { jsonOrText, textOfFile } from '../words.ts'

/** An await may wait a minute before it answers. */
const ANSWER_MS = 90_000

const NDJSON = 'application/x-ndjson'

/** `creel api`: any operation of the API, with the options that the service describes. */
export function addApiCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .argument('[operation]', 'operation name, e.g. endpoints.list; default: list all operations')
      .argument('[words...]', 'options of the operation; --help lists them')
      // Options after the name belong to the operation. They may have the same names as ours.
      .passThroughOptions(),
    {
      json: 'list the operations as JSON, one per line',
      examples: [
        'creel api | grep watchdogs',
        'creel api actions.create --help',
        'creel api actions.create --endpoint orders --kind forward --url https://app.example.com/hooks',
        'creel api watchdogs.timeline <id>',
        'creel api conditions.try --endpoint orders --body @condition.json',
      ],
    },
  ).action(async (wanted: string | undefined, words: readonly string[], options: ClientOptions) => {
    const api = await openApi(options, tools)
    const operations = await operationsOf(api)
    if (wanted === undefined) return list(operations, options)
    const operation = operationNamed(operations, wanted)
    const read = readWords(operation, words)
    if (read.asksForHelp) return printHelp(operation)
    await call(api, operation, read)
  })
}

function list(operations: readonly ApiOperation[], { json }: ClientOptions): void {
  if (json === true) {
    for (const { name, method, route, summary } of operations) printJson({ name, method, route, summary })
    return
  }
  printTable(operations, {
    Operation: ({ name }) => name,
    Method: ({ method }) => method,
    Path: ({ route }) => route,
    Description: ({ summary }) => summary,
  })
}

function operationNamed(operations: readonly ApiOperation[], wanted: string): ApiOperation {
  const word = wanted.replace('_', '.').toLowerCase()
  const found = operations.find(({ name }) => name.toLowerCase() === word)
  if (found !== undefined) return found
  const close = closestWords(
    operations.map(({ name }) => name),
    word,
  )
  throw usageError(
    `The API has no operation "${wanted}".`,
    close.length > 0 ? `Did you mean ${close.join(' or ')}?` : '`creel api` lists them.',
  )
}

function printHelp({ name, method, route, summary, values, bodyType }: ApiOperation): void {
  const rows = values.map((value) => [
    `  ${flagOf(value.name)} <${value.kind}>`,
    `${value.isRequired ? '(required) ' : ''}${value.description}`,
  ])
  if (bodyType !== undefined) rows.push(['  --body <json>', 'the whole body: JSON, @file, or - for stdin'])
  const width = Math.max(0, ...rows.map(([flag = '']) => flag.length))
  printText(
    `creel api ${name}: ${method} ${route}`,
    summary,
    '',
    ...rows.map(([flag = '', text = '']) => `${flag.padEnd(width)}  ${text}`),
  )
}

async function call(api: ApiClient, operation: ApiOperation, words: OperationWords): Promise<void> {
  const values = await withEndpoint(api, operation, words)
  const missing = operation.values.find(
    (value) =>
      value.isRequired && !values.has(value) && !(value.place === 'body' && words.body !== undefined),
  )
  if (missing !== undefined) {
    throw usageError(
      `${operation.name} needs ${flagOf(missing.name)}.`,
      `\`creel api ${operation.name} --help\` shows its options.`,
    )
  }
  const path = operation.route.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const [, value] = [...values].find(([known]) => known.place === 'path' && known.name === name) ?? []
    return encodeURIComponent(String(value))
  })
  const { headers, ...body } = await bodyOf(operation, values, words)
  const response = await api.creel.send(path + queryOf(textsAt('query', values)), {
    method: operation.method,
    ...body,
    headers: { Accept: '*/*', ...headers, ...textsAt('header', values) },
    ...(operation.isStream ? { signal: new AbortController().signal } : { timeoutMs: ANSWER_MS }),
  })
  await print(api, operation, response)
}

/** The endpoint is named as in every other command, and may be left out where there is only one. */
async function withEndpoint(
  api: ApiClient,
  operation: ApiOperation,
  { values }: OperationWords,
): Promise<Map<OperationValue, unknown>> {
  const all = new Map(values)
  const endpoint = operation.values.find(({ name }) => name === 'endpointId')
  if (endpoint === undefined) return all
  const wanted = values.get(endpoint)
  if (wanted === undefined && endpoint.place !== 'path') return all
  all.set(endpoint, (await chooseEndpoint(api, wanted === undefined ? undefined : String(wanted))).id)
  return all
}

const textsAt = (
  place: OperationValue['place'],
  values: ReadonlyMap<OperationValue, unknown>,
): Record<string, string> =>
  Object.fromEntries(
    [...values].filter(([value]) => value.place === place).map(([{ name }, value]) => [name, String(value)]),
  )

async function bodyOf(
  { method, bodyType }: ApiOperation,
  values: ReadonlyMap<OperationValue, unknown>,
  { body }: OperationWords,
): Promise<Pick<Sending, 'body' | 'headers'>> {
  if (bodyType === undefined) return {}
  const text = body === undefined ? undefined : await textOf(body)
  if (bodyType === NDJSON) return { headers: { 'Content-Type': NDJSON }, body: text ?? '' }
  const members = Object.fromEntries(
    [...values].filter(([value]) => value.place === 'body').map(([{ name }, value]) => [name, value]),
  )
  if (text === undefined) return jsonSending(method, members)
  const whole: unknown = jsonOf(text)
  return jsonSending(method, Object.keys(members).length === 0 ? whole : { ...Object(whole), ...members })
}

async function textOf(body: string): Promise<string> {
  if (body === '-') return await textOfFile(body)
  return body.startsWith('@') ? await textOfFile(body.slice(1)) : body
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usageError('--body is not JSON.', 'Write JSON, @file for one that holds it, or - for stdin.')
  }
}

/** JSON on one line, everything else as it comes. */
async function print(api: ApiClient, { name }: ApiOperation, response: Response): Promise<void> {
  const type = response.headers.get('content-type') ?? ''
  if (response.status === 204) return printHint(`${name}: done.`)
  try {
    if (/^application\/json\b/.test(type)) return printJson(await response.json())
    const output = byteOutput()
    for await (const chunk of response.body ?? []) await output.write(chunk)
    output.end()
  } catch (error) {
    if (error instanceof ReaderGone) throw error
    throw api.brokenOff(error, 'within its answer')
  }
}

/** The words of a command line after the name of an operation. */
interface OperationWords {
  /** Values by their names, in their kinds. */
  readonly values: ReadonlyMap<OperationValue, unknown>
  /** `--body`: JSON, `@file`, or `-` for stdin. */
  readonly body: string | undefined
  readonly asksForHelp: boolean
}

/** A name as an option: `--response-status-code`. */
const flagOf = (name: string): string => `--${name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()}`

/** Spelling does not matter: `responseStatusCode`, `response-status-code`. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/**
 * Reads options and words: `--name value`, `--name=value`, `--flag`, a list by repeating its option. Words without an
 * option are the values of the path, in its order.
 *
 * @throws ClientError for an option that the operation has not, or a value of the wrong kind
 */
function readWords(operation: ApiOperation, words: readonly string[]): OperationWords {
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
