import type { Command } from 'commander'
import type { CallAnswer } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { usageError } from '../clientError.ts'
import { EXIT } from '../exitCodes.ts'
import { printHint, printJson, printTable, printText } from '../output/print.ts'
import { agoText } from '../output/text.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

type Subscription = CallAnswer<'subscriptions_list'>['items'][number]

const PAGE_SIZE = 100

/** `creel subscriptions list|show|end`: the callbacks of agents that are sent events. */
export function addSubscriptionsCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(command.command('list').description('list the subscriptions, newest first'), {
    json: 'print one JSON object per line',
    examples: ['creel subscriptions list', 'creel subscriptions list --json'],
  }).action(async (options: ClientOptions) => {
    const rows = await allOf(await openApi(options, tools))
    if (options.json === true) {
      for (const row of rows) printJson(row)
      return
    }
    const now = Date.now()
    printTable(rows, {
      Id: ({ id }) => id,
      Event: ({ name }) => name,
      Key: ({ key }) => key.name,
      'Sent to': ({ host }) => host,
      State: stateOf,
      Waiting: ({ waitingCount }) => String(waitingCount),
      'Last sent': ({ status }) => agoText(status.lastDeliveryAt, now),
      Until: ({ expiresAt }) => expiresAt,
    })
  })

  withClientOptions(
    command
      .command('show')
      .description('show a subscription and its newest messages')
      .argument('<subscription>', 'id, or its first characters'),
    { json: 'print it as one JSON object', examples: ['creel subscriptions show 5b1c2f6e'] },
  ).action(async (wanted: string, options: ClientOptions) => {
    const api = await openApi(options, tools)
    const subscriptionId = await idOf(api, wanted)
    const one = await api.calls.subscriptions.get({ subscriptionId })
    if (options.json === true) return printJson(one)
    printText(
      `${one.name}, sent to ${one.host}`,
      `arguments: ${JSON.stringify(one.arguments)}`,
      `key: ${one.key.name} (${one.key.prefix}…)`,
      `state: ${stateOf(one)}, ${one.waitingCount} waiting, ${one.sentCount} sent, ${one.failedCount} given up`,
      `until: ${one.expiresAt}`,
    )
    printTable(one.deliveries, {
      Message: ({ messageId }) => messageId,
      State: ({ state }) => state,
      Attempts: ({ attempts }) =>
        attempts.map(({ error, statusCode }) => error ?? statusCode ?? '').join(', '),
      Next: ({ nextAt }) => nextAt ?? '',
    })
  })

  withClientOptions(
    command
      .command('end')
      .description('end a subscription; its callback is sent nothing more')
      .argument('<subscription>', 'id, or its first characters')
      .option('--yes', 'end it; without it, nothing changes'),
    { json: 'print {"ended"} on one line', examples: ['creel subscriptions end 5b1c2f6e --yes'] },
  ).action(async (wanted: string, options: ClientOptions & { yes?: boolean }) => {
    const api = await openApi(options, tools)
    const subscriptionId = await idOf(api, wanted)
    if (options.yes !== true) {
      printHint(`This would end the subscription ${subscriptionId}.`, 'Add --yes to end it.')
      process.exitCode = EXIT.usage
      return
    }
    await api.calls.subscriptions.end({ subscriptionId })
    if (options.json === true) return printJson({ ended: subscriptionId })
    printText(`Ended ${subscriptionId}.`)
  })
}

async function allOf({ calls }: ApiClient): Promise<Subscription[]> {
  const rows: Subscription[] = []
  for (let before: string | undefined; ; ) {
    const page = await calls.subscriptions.list({
      pageSize: PAGE_SIZE,
      ...(before === undefined ? {} : { before }),
    })
    rows.push(...page.items)
    if (page.next === null) return rows
    before = page.next
  }
}

/** The id of the only subscription that begins with a text. */
async function idOf(api: ApiClient, wanted: string): Promise<string> {
  const ids = (await allOf(api)).flatMap(({ id }) => (id.startsWith(wanted.toLowerCase()) ? [id] : []))
  const [id, ...others] = ids
  if (id === undefined)
    throw usageError(`No subscription begins with "${wanted}".`, 'See creel subscriptions list.')
  if (others.length > 0)
    throw usageError(`Several subscriptions begin with "${wanted}".`, 'Give more of the id.')
  return id
}

function stateOf({ status }: Subscription): string {
  if (status.failedSince !== null) return `failing: ${status.lastError ?? ''}`
  return status.throttled ? 'throttled' : 'active'
}
