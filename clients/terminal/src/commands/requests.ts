import type { Command } from 'commander'
import { type CapturedRequestSummary, itemsByIdOf } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { chooseEndpoint, endpointIdOf } from '../api/endpointChoice.ts'
import { EXIT } from '../exitCodes.ts'
import { type FilterOptions, filterQuery, withFilterOptions } from '../filterOptions.ts'
import { printHint, printJson, printTable, printText } from '../output/print.ts'
import { requestText, stateText } from '../output/requestText.ts'
import { clockText, sizeText } from '../output/text.ts'
import { byteOutput } from '../output/write.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { countOption, requestIdOption } from '../words.ts'
import { addExportCommand, addImportCommand } from './transfer.ts'

interface EndpointOption extends ClientOptions {
  readonly endpoint?: string
}

interface DeleteOptions extends EndpointOption {
  readonly all?: boolean
  readonly yes?: boolean
}

const ENDPOINT = [
  '-e, --endpoint <endpoint>',
  'name, id or capture URL; default CREEL_ENDPOINT, else the only one',
] as const

export function addRequestsCommands(command: Command, tools: TerminalTools): void {
  const list = command
    .command('list')
    .description('list captured requests, newest first')
    .option(...ENDPOINT)
  withClientOptions(
    withFilterOptions(list).option('--limit <n>', 'number of requests; default 20', countOption),
    {
      json: 'print one JSON object per line',
      examples: [
        'creel requests list',
        'creel requests list -e orders --q ada@example.com --since 2h',
        'creel requests list --needs-attention --json',
      ],
    },
  ).action(async (options: EndpointOption & FilterOptions & { limit?: number }) => {
    const api = await openApi(options, tools)
    const endpoint = await chooseEndpoint(api, options.endpoint, { onlyReads: true })
    const input = { ...filterQuery(options), endpointId: endpoint.id, pageSize: 100 }
    const rows: CapturedRequestSummary[] = []
    for await (const row of itemsByIdOf((from) =>
      api.calls.requests.list({ ...input, ...from, partial: true }),
    )) {
      rows.push(row)
      if (rows.length >= (options.limit ?? 20)) break
    }
    if (options.json === true) {
      for (const row of rows) printJson(row)
      return
    }
    printTable(rows, {
      Id: ({ id }) => String(id),
      Received: ({ receivedAt }) => `${receivedAt.slice(0, 10)} ${clockText(receivedAt)}`,
      Method: ({ method }) => method,
      Path: ({ path }) => (path === '' ? '/' : path),
      Label: ({ label }) => label ?? '',
      Verdict: ({ verification }) => verification?.verdict ?? '',
      Size: ({ sizeBytes }) => sizeText(sizeBytes),
      State: (row) => stateText(row),
    })
  })

  withClientOptions(
    command
      .command('get')
      .description('read a captured request in full')
      .argument('<id>', 'id of the request', requestIdOption)
      .option(...ENDPOINT)
      .option('--body', 'print the body only; byte for byte, unless stdout is a terminal'),
    {
      json: 'print the request on one line',
      examples: [
        'creel requests get 12',
        'creel requests get 12 --body | jq .',
        'creel requests get 12 --json',
      ],
    },
  ).action(async (id: number, options: EndpointOption & { body?: boolean }) => {
    const api = await openApi(options, tools)
    const request = await api.calls.requests.get({
      endpointId: await endpointIdOf(api, options.endpoint, id),
      requestId: id,
    })
    if (options.json === true) return printJson(request)
    if (options.body === true) {
      const output = byteOutput()
      await output.write(Buffer.from(request.body ?? '', request.bodyIsBinary ? 'base64' : 'utf8'))
      return output.end()
    }
    printText(...requestText(request, { width: process.stdout.columns ?? 100 }))
  })

  withClientOptions(
    command
      .command('delete')
      .description('move captured requests to the recycle bin')
      .argument('[ids...]', 'ids of the requests')
      .option(...ENDPOINT)
      .option('--all', 'every request of the endpoint; needs --yes')
      .option('--yes', 'confirms --all'),
    {
      json: 'print {"deletedCount"} on one line',
      examples: ['creel requests delete 12 13', 'creel requests delete --all --yes -e ci'],
    },
  ).action(deleteRequests(tools))

  addExportCommand(command, tools)
  addImportCommand(command, tools)
}

function deleteRequests(tools: TerminalTools) {
  return async (texts: readonly string[], options: DeleteOptions): Promise<void> => {
    const requestIds = texts.map(requestIdOption)
    const api = await openApi(options, tools)
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
    printDeleted(deletedCount, options)
  }
}

async function deleteAll(api: ApiClient, options: DeleteOptions): Promise<void> {
  const { id, name, storedRequestCount } = await chooseEndpoint(api, options.endpoint)
  if (options.all !== true || options.yes !== true) {
    printHint(
      `Give request ids, or --all --yes for all ${storedRequestCount} requests of "${name}".`,
      'Deleted requests can be restored from the recycle bin.',
    )
    process.exitCode = EXIT.usage
    return
  }
  printDeleted((await api.calls.requests.clear({ endpointId: id })).deletedCount, options)
}

function printDeleted(deletedCount: number, { json }: ClientOptions): void {
  if (json === true) printJson({ deletedCount })
  else printText(`Moved ${deletedCount} requests to the recycle bin.`)
}
