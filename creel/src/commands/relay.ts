import type { Command } from 'commander'
import { ConfigError } from '../config/index.ts'
import type { ProgramParts } from '../programParts.ts'
import { environmentWith, type PlaceOptions, serve } from './serve.ts'

interface RelayOptions extends PlaceOptions {
  readonly baseUrl?: string
}

const DATA_FOLDER = '.creel-relay'

/** Variables that a relay does not read: its limits are fixed, and it sends nothing. */
const WITHOUT_EFFECT = ['CREEL_PLANS_FILE', 'CREEL_SMTP_URL'] as const

export function addRelayCommand(command: Command, parts: ProgramParts): void {
  command
    .option('--port <port>', 'port to listen on, 0 for any free port; default CREEL_PORT, else 4400')
    .option('--data <folder>', `data folder; default CREEL_DATA_DIR, else ${DATA_FOLDER}`)
    .option('--base-url <url>', 'public URL of the relay; default CREEL_BASE_URL')
    .action(async (options: RelayOptions) => {
      const environment = environmentWith(process.env, options)
      const useless = WITHOUT_EFFECT.filter((name) => (environment[name] ?? '').trim() !== '')
      if (useless.length > 0) {
        throw new ConfigError(useless.map((name) => `${name} has no effect on a relay: remove it`))
      }
      await serve(
        parts,
        new Set(['gateway', 'jobs'] as const),
        {
          ...environment,
          ...(options.baseUrl === undefined ? {} : { CREEL_BASE_URL: options.baseUrl }),
          CREEL_DATA_DIR: environment.CREEL_DATA_DIR?.trim() || DATA_FOLDER,
        },
        { isRelay: true },
      )
    })
}
