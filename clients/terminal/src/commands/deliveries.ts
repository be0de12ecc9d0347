import type { Command } from 'commander'
import { type DeliveryAttempt, itemsByIdOf } from 'creel-client'
import { chooseEndpoint, endpointIdOf } from '../api/endpointChoice.ts'
import { printJson, printTable } from '../output/print.ts'
import { clockText } from '../output/text.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { countOption, requestIdOption } from '../words.ts'

interface DeliveryOptions extends ClientOptions {
  readonly endpoint?: string
  readonly request?: number
  readonly state?: string
  readonly attempt?: number
  readonly limit?: number
}

export function addDeliveriesCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .option(
        '-e, --endpoint <endpoint>',
        'name, id or capture URL; default CREEL_ENDPOINT, else the only one',
      )
      .option('--request <id>', 'only deliveries of this request', requestIdOption)
      .option('--state <state>', 'Succeeded, Failed, Errored, Pending, Interrupted or DeadLetter')
      .option('--attempt <id>', 'one attempt as JSON, with the exact request and response', requestIdOption)
      .option('--limit <n>', 'number of attempts; default 20', countOption),
    {
      json: 'print one JSON object per line',
      examples: [
        'creel deliveries --request 12',
        'creel deliveries -e orders --state DeadLetter',
        'creel deliveries --attempt 7 | jq .received',
      ],
    },
  ).action(async (options: DeliveryOptions) => {
    const api = await openApi(options, tools)
    const id =
      options.request === undefined
        ? (await chooseEndpoint(api, options.endpoint, { onlyReads: true })).id
        : await endpointIdOf(api, options.endpoint, options.request)
    const { deliveries } = api.calls
    if (options.attempt !== undefined)
      return printJson(await deliveries.get({ endpointId: id, attemptId: options.attempt }))
    const rows: DeliveryAttempt[] = []
    // The service checks the word.
    const filters: Record<string, string | number | undefined> = {
      requestId: options.request,
      state: options.state,
    }
    const input = { ...filters, endpointId: id, pageSize: 100 }
    for await (const row of itemsByIdOf((from) => deliveries.list({ ...input, ...from }))) {
      rows.push(row)
      if (rows.length >= (options.limit ?? 20)) break
    }
    if (options.json === true) {
      for (const row of rows) printJson(row)
      return
    }
    printTable(rows, {
      Id: (row) => String(row.id),
      Request: ({ requestId }) => String(requestId),
      At: ({ at }) => `${at.slice(0, 10)} ${clockText(at)}`,
      Action: ({ actionName }) => actionName,
      Attempt: ({ attemptNumber }) => String(attemptNumber),
      State: ({ state }) => state,
      Status: ({ statusCode, error }) => String(statusCode ?? error ?? ''),
      Ms: ({ durationMs }) => String(durationMs ?? ''),
      Url: ({ url }) => url,
    })
  })
}
