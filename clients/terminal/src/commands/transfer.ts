import type { Command } from 'commander'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { usageError } from '../clientError.ts'
import { type FilterOptions, filterQuery, withFilterOptions } from '../filterOptions.ts'
import { printHint, printJson, printText } from '../output/print.ts'
import { byteOutput } from '../output/write.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

interface EndpointOption extends ClientOptions {
  readonly endpoint?: string
}

interface ExportOptions extends EndpointOption, FilterOptions {
  readonly har?: boolean
  readonly includeSecrets?: boolean
}

const ENDPOINT = [
  '-e, --endpoint <endpoint>',
  'name, id or capture URL; default CREEL_ENDPOINT, else the only one',
] as const

/** Silence in the middle of an export after which the service counts as gone. */
const SILENCE_MILLISECONDS = 60_000

/** `creel requests export`: copies the service's stream to stdout. */
export function addExportCommand(requests: Command, tools: TerminalTools): void {
  withClientOptions(
    withFilterOptions(
      requests
        .command('export')
        .description('print captured requests in full, oldest first, one JSON object per line')
        .option(...ENDPOINT)
        .option('--har', 'print one HAR file instead')
        .option('--include-secrets', 'do not mask headers with names of credentials'),
    ),
    {
      json: 'no effect: the output is always JSON',
      examples: [
        'creel requests export -e orders --since 2026-11-01 > orders.ndjson',
        'creel requests export -e orders --label order.paid --har > orders.har',
      ],
    },
  ).action(async (options: ExportOptions) => {
    const api = await openApi(options, tools)
    const { id } = await chooseEndpoint(api, options.endpoint)
    const silence = new AbortController()
    const stream = await api.creel.endpoints.requests(id).exportAll({
      ...filterQuery(options),
      format: options.har === true ? 'har' : 'ndjson',
      includeSecrets: options.includeSecrets === true,
      signal: silence.signal,
    })
    const watch = setTimeout(() => silence.abort(), SILENCE_MILLISECONDS)
    const output = byteOutput()
    let lines = 0
    try {
      for await (const chunk of stream) {
        watch.refresh()
        lines += newLinesIn(chunk)
        await output.write(chunk)
      }
      output.end()
    } catch (error) {
      if (isReaderGone(error)) return
      throw api.brokenOff(error, `after ${lines} lines`)
    } finally {
      clearTimeout(watch)
    }
    if (options.har !== true) printHint(`Exported ${lines} requests.`)
  })
}

/** `creel requests import`: lines of NDJSON from a file or stdin, sent as they are read. */
export function addImportCommand(requests: Command, tools: TerminalTools): void {
  withClientOptions(
    requests
      .command('import')
      .description('store exported requests with their times; nothing is forwarded')
      .argument('[file]', 'output of `creel requests export`; default stdin')
      .option(...ENDPOINT),
    {
      json: 'print {"importedCount","firstId","lastId"} on one line',
      examples: [
        'creel requests import orders.ndjson -e orders',
        'creel requests export -e orders --include-secrets | creel requests import -e copy --url https://other.example.com --key creel_live_…',
      ],
    },
  ).action(async (file: string | undefined, options: EndpointOption) => {
    const api = await openApi(options, tools)
    const endpoint = await chooseEndpoint(api, options.endpoint)
    const source = Bun.file(file ?? '/dev/stdin')
    if (file === undefined && process.stdin.isTTY === true) {
      throw usageError('The input is missing.', 'Give a file, or pipe an export to this command.')
    }
    if (file !== undefined && !(await source.exists())) throw usageError(`The file ${file} does not exist.`)
    const lines = file === undefined ? Bun.stdin.stream() : source.stream()
    // No timeout: the service ends an upload that is too slow.
    const { signal } = new AbortController()
    const imported = await api.creel.endpoints.requests(endpoint.id).import(lines, { signal })
    if (options.json === true) return printJson(imported)
    printText(`Imported ${imported.importedCount} requests into "${endpoint.name}".`)
  })
}

function newLinesIn(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) count += 1
  return count
}

/** The reader of stdout, such as `| head`, has closed the pipe. */
const isReaderGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE'
