import type { Command } from 'commander'
import { type CallAnswer, itemsOf } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { usageError } from '../clientError.ts'
import { printTable, printText } from '../output/print.ts'
import { agoText } from '../output/text.ts'
import { addVerb, type ClientOptions, isConfirmed } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

type Subscription = CallAnswer<'subscriptions_list'>['items'][number]

/** `creel subscriptions list|show|end`: the callbacks of agents that are sent events. */
export function addSubscriptionsCommand(command: Command, tools: TerminalTools): void {
  addVerb(command.command('list').description('list the subscriptions, newest first'), tools, {
    json: 'print one JSON object per line',
    examples: ['creel subscriptions list', 'creel subscriptions list --json'],
    run: allOf,
    print: (rows) =>
      printTable(rows, {
        Id: ({ id }) => id,
        Event: ({ name }) => name,
        Key: ({ key }) => key.name,
        'Sent to': ({ host }) => host,
        State: stateOf,
        Waiting: ({ waitingCount }) => String(waitingCount),
        'Last sent': ({ status }) => agoText(status.lastDeliveryAt, Date.now()),
        Until: ({ expiresAt }) => expiresAt,
      }),
  })

  const show = command.command('show').description('show a subscription and its newest messages')
  addVerb(show.argument('<subscription>', 'id, or its first characters'), tools, {
    json: 'print it as one JSON object',
    examples: ['creel subscriptions show 5b1c2f6e'],
    run: async (api, _: ClientOptions, wanted: string) =>
      await api.calls.subscriptions.get({ subscriptionId: await idOf(api, wanted) }),
    print: (one) => {
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
    },
  })

  addVerb(
    command
      .command('end')
      .description('end a subscription; its callback is sent nothing more')
      .argument('<subscription>', 'id, or its first characters')
      .option('--yes', 'end it; without it, nothing changes'),
    tools,
    {
      json: 'print {"ended"} on one line',
      examples: ['creel subscriptions end 5b1c2f6e --yes'],
      run: async (api, options: ClientOptions & { yes?: boolean }, wanted: string) => {
        const subscriptionId = await idOf(api, wanted)
        const wouldDo = `This would end the subscription ${subscriptionId}.`
        if (!isConfirmed(options, wouldDo, 'Add --yes to end it.')) return undefined
        await api.calls.subscriptions.end({ subscriptionId })
        return { ended: subscriptionId }
      },
      print: ({ ended }) => printText(`Ended ${ended}.`),
    },
  )
}

async function allOf({ calls }: ApiClient): Promise<Subscription[]> {
  return await Array.fromAsync(itemsOf((from) => calls.subscriptions.list({ ...from, pageSize: 100 })))
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
