import type { Command } from 'commander'
import { endpointIdOf } from '../api/endpointChoice.ts'
import { printJson, printTable, printText } from '../output/print.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { requestIdOption, spanOption } from '../words.ts'

interface CreateOptions extends ClientOptions {
  readonly endpoint?: string
  readonly for?: number
}

/** `creel share [create]|list|revoke`: links that show one request to readers without a key. */
export function addShareCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .command('create', { isDefault: true })
      .description('make a link that shows a captured request to readers without a key')
      .argument('<request>', 'id of the captured request', requestIdOption)
      .option('-e, --endpoint <endpoint>', 'name, id or capture URL; default the endpoint of the request')
      .option('--for <time>', 'until the link ends, such as 1h; default 7d, at most 30d', spanOption),
    { json: 'print the link as one JSON object', examples: ['creel share 12', 'creel share 12 --for 1h'] },
  ).action(async (requestId: number, options: CreateOptions) => {
    const api = await openApi(options, tools)
    const link = await api.calls.shareLinks.create({
      endpointId: await endpointIdOf(api, options.endpoint, requestId),
      requestId,
      ...(options.for === undefined ? {} : { expiresInSeconds: Math.round(options.for / 1000) }),
    })
    if (options.json === true) return printJson(link)
    printText(link.url)
  })

  withClientOptions(
    command.command('list').description('list the links that still show their request, newest first'),
    { json: 'print one JSON object per line', examples: ['creel share list'] },
  ).action(async (options: ClientOptions) => {
    // A workspace has at most 100 links.
    const { items } = await (await openApi(options, tools)).calls.shareLinks.list({ pageSize: 100 })
    if (options.json === true) {
      for (const link of items) printJson(link)
      return
    }
    printTable(items, {
      Id: ({ id }) => id,
      Request: ({ requestId }) => String(requestId),
      By: ({ createdBy }) => createdBy ?? '',
      Until: ({ expiresAt }) => expiresAt,
    })
  })

  withClientOptions(
    command
      .command('revoke')
      .description('revoke a link: its page answers 404 at once')
      .argument('<link>', 'id of the link'),
    {
      json: 'print {"revoked"} on one line',
      examples: ['creel share revoke 0b6f6b0e-5f0d-4c53-8a55-1c8a7b1f4f10'],
    },
  ).action(async (shareLinkId: string, options: ClientOptions) => {
    await (await openApi(options, tools)).calls.shareLinks.revoke({ shareLinkId })
    if (options.json === true) return printJson({ revoked: shareLinkId })
    printText(`Revoked ${shareLinkId}.`)
  })
}
