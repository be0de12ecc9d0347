import type { Command } from 'commander'
import type { CapturedRequest } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { EXIT } from '../exitCodes.ts'
import { type FilterOptions, filterQuery, withFilterOptions } from '../filterOptions.ts'
import { printHint, printJson } from '../output/print.ts'
import { hasFailures, stateText } from '../output/requestText.ts'
import { spanText } from '../output/text.ts'
import { type ClientOptions, ENDPOINT_OPTION, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { spanOption } from '../words.ts'

/** Longest wait in one call of the API. */
const CALL_SECONDS_MAX = 60
const DEFAULT_MILLISECONDS = 30_000

export function addAwaitCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    withFilterOptions(command.option(...ENDPOINT_OPTION)).option(
      '--timeout <span>',
      'longest wait, e.g. 20s; default 30s; 0s looks only at what is stored',
      spanOption,
    ),
    {
      json: 'no effect: the request is always printed as one JSON object',
      examples: [
        'creel await --q order-1234 --timeout 20s',
        'creel await -e ci --label order.paid --since now | jq -r .body',
      ],
    },
  ).action(async (options: ClientOptions & FilterOptions & { endpoint?: string; timeout?: number }) => {
    const api = await openApi(options, tools)
    const { id } = await chooseEndpoint(api, options.endpoint)
    const span = options.timeout ?? DEFAULT_MILLISECONDS
    const found =
      span === 0 ? await stored(api, id, options) : await awaited(api, id, options, Date.now() + span)
    if (found !== undefined) {
      printJson(found)
      // Its state is that of the latest delivery, whichever its action.
      if (hasFailures(found)) printHint(`creel: not all actions succeeded: ${stateText(found)}.`)
      return
    }
    printHint(`creel: no matching request arrived within ${spanText(span / 1000)}.`)
    process.exitCode = EXIT.failed
  })
}

/** The stored request that a wait would answer with: the lowest match after `--after`, without it the newest. */
async function stored(
  { calls }: ApiClient,
  endpointId: string,
  options: FilterOptions,
): Promise<CapturedRequest | undefined> {
  const filters = filterQuery(options)
  const order = filters.afterId === undefined ? 'desc' : 'asc'
  const { items } = await calls.requests.list({ ...filters, endpointId, order, pageSize: 1 })
  const [first] = items
  return first && (await calls.requests.get({ endpointId, requestId: first.id }))
}

async function awaited(
  api: ApiClient,
  endpointId: string,
  options: FilterOptions,
  deadline: number,
): Promise<CapturedRequest | undefined> {
  const filters = filterQuery(options)
  const wait = () => {
    const seconds = Math.min(CALL_SECONDS_MAX, Math.ceil((deadline - Date.now()) / 1000))
    const input = { ...filters, endpointId, timeoutSeconds: seconds }
    return api.calls.requests.await(input, { timeoutMs: (seconds + 15) * 1000 })
  }
  while (Date.now() < deadline) {
    const found = await api.pastOutages(wait, { until: deadline })
    if (found !== undefined) return found
  }
  return undefined
}
