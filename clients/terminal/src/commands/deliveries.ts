import type { Command } from 'commander'
import { itemsByIdOf } from 'creel-client'
import { type ApiClient, ApiProblem } from '../api/apiClient.ts'
import { allEndpoints, chooseEndpoint, endpointIdOf } from '../api/endpointChoice.ts'
import { ClientError, givesMembers } from '../clientError.ts'
import { printJson, printTable } from '../output/print.ts'
import { dateTimeText } from '../output/text.ts'
import { addVerb, type ClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { countOption, firstOf, requestIdOption } from '../words.ts'

interface DeliveryOptions extends ClientOptions {
  readonly endpoint?: string
  readonly request?: number
  readonly state?: string
  readonly attempt?: number
  readonly limit?: number
}

export function addDeliveriesCommand(command: Command, tools: TerminalTools): void {
  addVerb(
    givesMembers(command, { requestId: '--request' })
      .option(
        '-e, --endpoint <endpoint>',
        'name, id or capture URL; default that of --request, else CREEL_ENDPOINT, else of --attempt or the only one',
      )
      .option('--request <id>', 'only deliveries of this request', requestIdOption)
      .option('--state <state>', 'Succeeded, Failed, Errored, Pending, Interrupted or DeadLetter')
      .option('--attempt <id>', 'one attempt as JSON, with the exact request and response', requestIdOption)
      .option('--limit <n>', 'number of attempts; default 20', countOption),
    tools,
    {
      json: 'print one JSON object per line',
      examples: [
        'creel deliveries --request 12',
        'creel deliveries -e orders --state DeadLetter',
        'creel deliveries --attempt 7 | jq .received',
      ],
      run: async (api, { endpoint, request, state, attempt, limit = 20 }: DeliveryOptions) => {
        if (attempt !== undefined) {
          printJson(await attemptOf(api, endpoint, attempt))
          return undefined
        }
        const endpointId =
          request === undefined
            ? (await chooseEndpoint(api, endpoint, { onlyReads: true })).id
            : await endpointIdOf(api, endpoint, request)
        const { deliveries } = api.calls
        // The service checks the word.
        const filters: Record<string, string | number | undefined> = { requestId: request, state }
        const input = { ...filters, endpointId, pageSize: 100 }
        return await firstOf(
          itemsByIdOf((from) => deliveries.list({ ...input, ...from })),
          limit,
        )
      },
      print: (rows) =>
        printTable(rows, {
          Id: (row) => String(row.id),
          Request: ({ requestId }) => String(requestId),
          At: ({ at }) => dateTimeText(at),
          Action: ({ actionName }) => actionName,
          Attempt: ({ attemptNumber }) => String(attemptNumber),
          State: ({ state }) => state,
          Status: ({ statusCode, error }) => String(statusCode ?? error ?? ''),
          Ms: ({ durationMs }) => String(durationMs ?? ''),
          Url: ({ url }) => url,
        }),
    },
  )
}

/** Endpoints that are asked for an attempt, each with a call. */
const ASKED_MAX = 50

/** An attempt of the named endpoint, else of the one that has it: no other attempt of the workspace has this id. */
async function attemptOf(api: ApiClient, wanted: string | undefined, attemptId: number) {
  const named = wanted ?? api.connection.endpoint
  const all = named === undefined ? await allEndpoints(api) : [await chooseEndpoint(api, named)]
  const asked = all
    .toSorted((one, other) => (other.lastRequestAt ?? '').localeCompare(one.lastRequestAt ?? ''))
    .slice(0, ASKED_MAX)
  for (const { id } of asked) {
    try {
      return await api.calls.deliveries.get({ endpointId: id, attemptId })
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.code !== 'not_found') throw error
    }
  }
  const where = named === undefined ? `in ${asked.length} of ${all.length} endpoints` : `in "${all[0]?.name}"`
  throw new ClientError(`There is no attempt ${attemptId} ${where}.`, ['Name its endpoint with -e.'])
}
