import type { Command } from 'commander'
import { endpointIdOf } from '../api/endpointChoice.ts'
import { givesMembers } from '../clientError.ts'
import { printTable, printText } from '../output/print.ts'
import { addVerb, type ClientOptions, REQUEST_ENDPOINT_OPTION } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { requestIdOption, spanOption } from '../words.ts'

interface CreateOptions extends ClientOptions {
  readonly endpoint?: string
  readonly for?: number
}

/** `creel share [create]|list|revoke`: links that show one request to readers without a key. */
export function addShareCommand(command: Command, tools: TerminalTools): void {
  addVerb(
    givesMembers(command.command('create', { isDefault: true }), { expiresInSeconds: '--for' })
      .description('make a link that shows a captured request to readers without a key')
      .argument('<request>', 'id of the captured request', requestIdOption)
      .option(...REQUEST_ENDPOINT_OPTION)
      .option('--for <time>', 'until the link ends, such as 1h; default 7d, at most 30d', spanOption),
    tools,
    {
      json: 'print the link as one JSON object',
      examples: ['creel share 12', 'creel share 12 --for 1h'],
      run: async (api, options: CreateOptions, requestId: number) =>
        await api.calls.shareLinks.create({
          endpointId: await endpointIdOf(api, options.endpoint, requestId),
          requestId,
          ...(options.for === undefined ? {} : { expiresInSeconds: Math.round(options.for / 1000) }),
        }),
      print: ({ url }) => printText(url),
    },
  )

  const list = command
    .command('list')
    .description('list the live links, newest first, also those of requests in the recycle bin')
  addVerb(list, tools, {
    json: 'print one JSON object per line',
    examples: ['creel share list'],
    // A workspace has at most 100 links.
    run: async ({ calls }) => (await calls.shareLinks.list({ pageSize: 100 })).items,
    print: (items) =>
      printTable(items, {
        Id: ({ id }) => id,
        Request: ({ requestId }) => String(requestId),
        By: ({ createdBy }) => createdBy ?? '',
        Until: ({ expiresAt }) => expiresAt,
      }),
  })

  const revoke = command.command('revoke').description('revoke a link: its page answers 404 at once')
  addVerb(revoke.argument('<link>', 'id of the link'), tools, {
    json: 'print {"revoked"} on one line',
    examples: ['creel share revoke 0b6f6b0e-5f0d-4c53-8a55-1c8a7b1f4f10'],
    run: async ({ calls }, _: ClientOptions, shareLinkId: string) => {
      await calls.shareLinks.revoke({ shareLinkId })
      return { revoked: shareLinkId }
    },
    print: ({ revoked }) => printText(`Revoked ${revoked}.`),
  })
}
