import type { Command } from 'commander'
import { itemsByIdOf } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { chooseEndpoint, endpointIdOf } from '../api/endpointChoice.ts'
import { usageError } from '../clientError.ts'
import { type FilterOptions, filterQuery, withFilterOptions } from '../filterOptions.ts'
import { printHint, printTable, printText } from '../output/print.ts'
import { requestText, stateText } from '../output/requestText.ts'
import { clockText, sizeText } from '../output/text.ts'
import { byteOutput } from '../output/write.ts'
import { addVerb, type ClientOptions, isConfirmed } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { countOption, firstOf, requestIdOption } from '../words.ts'
import { addExportCommand, addImportCommand } from './transfer.ts'

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

const ENDPOINT = [
  '-e, --endpoint <endpoint>',
  'name, id or capture URL; default CREEL_ENDPOINT, else the only one',
] as const

export function addRequestsCommands(command: Command, tools: TerminalTools): void {
  const list = command
    .command('list')
    .description('list captured requests, newest first')
    .option(...ENDPOINT)
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
          Received: ({ receivedAt }) => `${receivedAt.slice(0, 10)} ${clockText(receivedAt)}`,
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
    .option(...ENDPOINT)
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
    .option(...ENDPOINT)
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
    .argument('[ids...]', 'ids of the requests')
    .option(...ENDPOINT)
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

async function deleteRequests(api: ApiClient, options: DeleteOptions, texts: readonly string[]) {
  const requestIds = texts.map(requestIdOption)
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
