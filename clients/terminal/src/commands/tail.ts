import type { Command } from 'commander'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { FILTER_OPTION, readFilter } from '../listen/filter.ts'
import { listen } from '../listen/listener.ts'
import { findStart } from '../listen/start.ts'
import { withView } from '../screen/withView.ts'
import { type ClientOptions, ENDPOINT_WORDS, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

interface TailOptions extends ClientOptions {
  readonly since?: string
  readonly filter?: readonly string[]
  readonly plain?: boolean
}

export function addTailCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .argument('[endpoint]', ENDPOINT_WORDS)
      .option('--since <when>', 'start at an id, 10m, 2026-11-01, now or start; default now')
      .option('--plain', 'print lines, also on a terminal')
      .option(...FILTER_OPTION),
    {
      json: 'print one JSON object per line, each with "event"',
      examples: [
        'creel tail',
        'creel tail orders --since 10m',
        `creel tail orders --json | jq 'select(.event=="request").request.body'`,
      ],
    },
  ).action(async (wanted: string | undefined, options: TailOptions) => {
    const filter = await readFilter(options.filter ?? [], tools)
    const api = await openApi(options, tools)
    const endpoint = await chooseEndpoint(api, wanted, { onlyReads: true })
    const start = await findStart(api, endpoint.id, {
      since: options.since,
      stored: undefined,
      filters: filter.query,
    })
    const nothingSent = { sender: null, checkpoint: null, concurrency: 1, retry: false }
    await withView(options, { api, sender: null, tools }, (view, signal) =>
      listen({ api, endpoint, start, filter, ...nothingSent, view, signal }),
    )
  })
}
