import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { ApiClient } from '../api/apiClient.ts'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { usageError } from '../clientError.ts'
import { printJson, printTable, printText } from '../output/print.ts'
import { type ClientOptions, ENDPOINT_WORDS, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { assignments, countOption } from '../words.ts'

interface SendOptions extends ClientOptions {
  readonly to?: string
  readonly list?: boolean
  readonly set?: readonly string[]
  readonly count?: number
  readonly rate?: number
  readonly badSignature?: boolean
}

export function addSendCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .argument('[provider]', 'provider, e.g. stripe')
      .argument('[event]', "event type, e.g. invoice.paid; default the provider's first")
      .option('--to <endpoint>', ENDPOINT_WORDS)
      .option('--list', 'list the sample events')
      .option('--set <path=value...>', 'change the body, e.g. body.data.object.amount=5')
      .option('--count <n>', 'number of events; default 1', countOption)
      .option('--rate <n>', 'events per second; default as fast as possible', rateOption)
      .option('--bad-signature', 'sign with a wrong secret'),
    {
      json: 'print one JSON object per line',
      examples: [
        'creel send --list',
        'creel send stripe --to orders',
        'creel send stripe invoice.paid --to orders --set body.data.object.amount_paid=5',
        'creel send github --to builds --count 100 --rate 10',
      ],
    },
  ).action(async (provider: string | undefined, event: string | undefined, options: SendOptions) => {
    const api = await openApi(options, tools)
    if (options.list === true) return await printSamples(api, options)
    if (provider === undefined)
      throw usageError('The provider is missing.', '`creel send --list` shows the sample events.')
    await send(api, { provider, event }, options)
  })
}

function rateOption(text: string): number {
  const rate = Number(text)
  if (!(rate > 0)) throw new InvalidArgumentError('Give a number above 0.')
  return rate
}

async function printSamples(api: ApiClient, { json }: SendOptions): Promise<void> {
  const { items } = await api.calls.samples.list({})
  if (json === true) {
    for (const item of items) printJson(item)
    return
  }
  const rows = items.flatMap(({ provider, events }) => events.map((event) => ({ provider, ...event })))
  printTable(rows, {
    Provider: ({ provider }) => provider,
    Event: ({ event }) => event,
    Description: ({ summary }) => summary,
  })
}

async function send(
  api: ApiClient,
  what: { readonly provider: string; readonly event: string | undefined },
  { to, set = [], count = 1, rate, badSignature, json }: SendOptions,
): Promise<void> {
  const endpoint = await chooseEndpoint(api, to)
  const sample = {
    endpointId: endpoint.id,
    ...what,
    set: assignments(set, 'body.data.amount=5'),
    badSignature: badSignature === true,
  }
  const begun = performance.now()
  for (let sent = 0; sent < count; sent += 1) {
    const due = rate === undefined ? begun : begun + (sent / rate) * 1000
    if (due > performance.now()) await sleep(due - performance.now())
    const answer = await api.calls.samples.send(sample)
    if (json === true) printJson(answer)
    else
      printText(
        `#${answer.requestId}  ${answer.provider}  ${answer.event}${answer.signed ? '' : '  unsigned'}`,
      )
  }
}
