import type { Command } from 'commander'
import { itemsByIdOf } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { chooseEndpoint, endpointIdOf } from '../api/endpointChoice.ts'
import { usageError } from '../clientError.ts'
import { type FilterOptions, filterQuery, withFilterOptions } from '../filterOptions.ts'
import { printHint, printJson, printTable, printText } from '../output/print.ts'
import { lackOf, requestText, stateText } from '../output/requestText.ts'
import { dateTimeText, sizeText } from '../output/text.ts'
import { byteOutput, ReaderGone } from '../output/write.ts'
import {
  addVerb,
  type ClientOptions,
  ENDPOINT_OPTION,
  isConfirmed,
  openApi,
  REQUEST_ENDPOINT_OPTION,
  withClientOptions,
} from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { countOption, firstOf, requestIdOption, requestIdsOption } from '../words.ts'

interface EndpointOption extends ClientOptions {
  readonly endpoint?: string
}

interface NoteOptions extends EndpointOption {
  readonly remove?: boolean
}

interface DeleteOptions extends EndpointOption {
  readonly all?: boolean
  readonly yes?: boolean
}

export function addRequestsCommands(command: Command, tools: TerminalTools): void {
  const list = command
    .command('list')
    .description('list captured requests, newest first')
    .option(...ENDPOINT_OPTION)
  addVerb(
    withFilterOptions(list).option('--limit <n>', 'number of requests; default 20', countOption),
    tools,
    {
      json: 'print one JSON object per line',
      examples: [
        'creel requests list',
        'creel requests list -e orders --q ada@example.com --since 2h',
        'creel requests list --needs-attention --json',
      ],
      run: async (api, options: EndpointOption & FilterOptions & { limit?: number }) => {
        const endpoint = await chooseEndpoint(api, options.endpoint, { onlyReads: true })
        const input = { ...filterQuery(options), endpointId: endpoint.id, pageSize: 100, partial: true }
        let omitsSealed = false
        const all = itemsByIdOf(async (from) => {
          const page = await api.calls.requests.list({ ...input, ...from })
          omitsSealed ||= page.search?.sealed === true
          return page
        })
        const rows = await firstOf(all, options.limit ?? 20)
        if (omitsSealed) printHint(`The text of encrypted requests of "${endpoint.name}" is not searched.`)
        return rows
      },
      print: (rows) =>
        printTable(rows, {
          Id: ({ id }) => String(id),
          Received: ({ receivedAt }) => dateTimeText(receivedAt),
          Method: ({ method }) => method,
          Path: ({ path }) => (path === '' ? '/' : path),
          Label: ({ label }) => label ?? '',
          Verdict: ({ verification }) => verification?.verdict ?? '',
          Size: ({ sizeBytes }) => sizeText(sizeBytes),
          State: (row) => stateText(row),
        }),
    },
  )

  const get = command
    .command('get')
    .description('read a captured request in full')
    .argument('<id>', 'id of the request', requestIdOption)
    .option(...REQUEST_ENDPOINT_OPTION)
    .option('--body', 'print the body only; byte for byte, unless stdout is a terminal')
  addVerb(get, tools, {
    json: 'print the request on one line',
    examples: [
      'creel requests get 12',
      'creel requests get 12 --body | jq .',
      'creel requests get 12 --json',
    ],
    run: async (api, { endpoint }: EndpointOption & { body?: boolean }, requestId: number) =>
      await api.calls.requests.get({
        endpointId: await endpointIdOf(api, endpoint, requestId),
        requestId,
      }),
    print: async (request, options) => {
      if (options.body !== true) {
        return printText(...requestText(request, { width: process.stdout.columns ?? 100 }))
      }
      const lack = lackOf(request)
      if (lack !== undefined) printHint(`#${request.id} is not whole: ${lack}.`)
      const output = byteOutput()
      await output.write(Buffer.from(request.body ?? '', request.bodyIsBinary ? 'base64' : 'utf8'))
      return output.end()
    },
  })

  const note = command
    .command('note')
    .description('write a note on a captured request, for people')
    .argument('<id>', 'id of the request', requestIdOption)
    .argument('[text]', 'the note, in place of the one before')
    .option(...REQUEST_ENDPOINT_OPTION)
    .option('--remove', 'remove the note')
  addVerb(note, tools, {
    json: 'print the request, without its body, on one line',
    examples: ['creel requests note 12 "Paid twice: refunded"', 'creel requests note 12 --remove'],
    run: async (api, { endpoint, remove = false }: NoteOptions, requestId: number, text?: string) => {
      if ((text !== undefined) === remove)
        throw usageError('Give the note, or --remove.', 'creel requests note 12 "Paid twice: refunded"')
      const endpointId = await endpointIdOf(api, endpoint, requestId)
      return await api.calls.requests.update({ endpointId, requestId, note: text ?? null })
    },
    print: ({ id, note: now }) =>
      printText(now === null ? `Removed the note of #${id}.` : `Wrote the note of #${id}.`),
  })

  const remove = command
    .command('delete')
    .description('move captured requests to the recycle bin')
    .argument('[ids...]', 'ids of the requests', requestIdsOption)
    .option(
      '-e, --endpoint <endpoint>',
      'name, id or capture URL; default the endpoint of each request; with --all CREEL_ENDPOINT, else the only one',
    )
    .option('--all', 'every request of the endpoint; needs --yes')
    .option('--yes', 'confirms --all')
  addVerb(remove, tools, {
    json: 'print {"deletedCount"} on one line',
    examples: ['creel requests delete 12 13', 'creel requests delete --all --yes -e ci'],
    run: deleteRequests,
    print: ({ deletedCount }) => printText(`Moved ${deletedCount} requests to the recycle bin.`),
  })

  addExportCommand(command, tools)
  addImportCommand(command, tools)
}

async function deleteRequests(api: ApiClient, options: DeleteOptions, requestIds: readonly number[]) {
  if (requestIds.length === 0) return await deleteAll(api, options)
  const byEndpoint = new Map<string, number[]>()
  for (const requestId of requestIds) {
    const id = await endpointIdOf(api, options.endpoint, requestId)
    byEndpoint.set(id, [...(byEndpoint.get(id) ?? []), requestId])
  }
  let deletedCount = 0
  for (const [endpointId, ids] of byEndpoint) {
    deletedCount += (await api.calls.requests.bulkDelete({ endpointId, requestIds: ids })).deletedCount
  }
  return { deletedCount }
}

async function deleteAll(api: ApiClient, { endpoint, all, yes }: DeleteOptions) {
  const { id, name, storedRequestCount } = await chooseEndpoint(api, endpoint)
  const isAll = isConfirmed(
    { yes: all === true && yes === true },
    `Give request ids, or --all --yes for all ${storedRequestCount} requests of "${name}".`,
    'Deleted requests can be restored from the recycle bin.',
  )
  return isAll ? await api.calls.requests.clear({ endpointId: id }) : undefined
}

interface ExportOptions extends EndpointOption, FilterOptions {
  readonly har?: boolean
  readonly includeSecrets?: boolean
}

/** Silence in the middle of an export after which the service counts as gone. */
const SILENCE_MILLISECONDS = 60_000

/** `creel requests export`: copies the service's stream to stdout. */
function addExportCommand(requests: Command, tools: TerminalTools): void {
  withClientOptions(
    withFilterOptions(
      requests
        .command('export')
        .description('print captured requests in full, oldest first, one JSON object per line')
        .option(...ENDPOINT_OPTION)
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
      if (error instanceof ReaderGone) throw error
      throw api.brokenOff(error, `after ${lines} lines`)
    } finally {
      clearTimeout(watch)
    }
    if (options.har !== true) printHint(`Exported ${lines} requests.`)
  })
}

/** `creel requests import`: lines of NDJSON from a file or stdin, sent as they are read. */
function addImportCommand(requests: Command, tools: TerminalTools): void {
  withClientOptions(
    requests
      .command('import')
      .description('store exported requests with their times; nothing is forwarded')
      .argument('[file]', 'output of `creel requests export`; default stdin')
      .option(...ENDPOINT_OPTION),
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
    if (file !== undefined && !(await source.exists())) throw await noFile(source, file)
    const lines = file === undefined ? Bun.stdin.stream() : source.stream()
    // No timeout: the service ends an upload that is too slow.
    const { signal } = new AbortController()
    const imported = await api.creel.endpoints.requests(endpoint.id).import(lines, { signal })
    if (options.json === true) return printJson(imported)
    printText(`Imported ${imported.importedCount} requests into "${endpoint.name}".`)
  })
}

async function noFile(source: Bun.BunFile, path: string): Promise<Error> {
  const found = await source.stat().catch(() => null)
  return found?.isDirectory() === true
    ? usageError(
        `${path} is a directory.`,
        `Give one file of it, or pipe several: cat ${path}/*.ndjson | creel requests import`,
      )
    : usageError(`The file ${path} does not exist.`)
}

function newLinesIn(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) count += 1
  return count
}
