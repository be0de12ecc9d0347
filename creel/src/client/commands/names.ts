import { Argument, type Command } from 'commander'
import { printText } from '../../commands/print.ts'
import type { ProgramTools } from '../../programTools.ts'
import type { ApiClient } from '../api/apiClient.ts'
import { allEndpoints } from '../api/endpointChoice.ts'
import { SampleList } from '../api/shapes.ts'
import type { ConnectionOptions } from '../connection/connection.ts'
import { openApi } from '../session.ts'

const KINDS = ['endpoints', 'samples'] as const
type Kind = (typeof KINDS)[number]

/** A shell waits for its completion no longer than this. */
const WAIT_MILLISECONDS = 2_000

/** `creel names <kind>`: what completion scripts ask while somebody types. Says nothing at all when anything is wrong. */
export function addNamesCommand(command: Command, tools: ProgramTools): void {
  command
    .addArgument(new Argument('<kind>', 'of what').choices(KINDS))
    .option('--url <url>', 'the service')
    .option('--key <key>', 'the API key')
    .action(async (kind: Kind, options: ConnectionOptions) => {
      const silence = setTimeout(() => process.exit(0), WAIT_MILLISECONDS)
      const names = await openApi(options, tools)
        .then((api) => NAMES[kind](api))
        .catch(() => [])
      clearTimeout(silence)
      if (names.length > 0) printText(...names)
    })
}

const NAMES: Readonly<Record<Kind, (api: ApiClient) => Promise<readonly string[]>>> = {
  // A name with a blank, or with what shells look at, stands by the beginning of its id.
  endpoints: async (api) =>
    (await allEndpoints(api)).map(({ id, name }) => (/^[\w.@:/+-]+$/.test(name) ? name : id.slice(0, 8))),
  samples: async (api) =>
    (await api.get('/api/v1/samples', SampleList)).items.map(({ provider }) => provider),
}
