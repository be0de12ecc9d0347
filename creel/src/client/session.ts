import type { Command } from 'commander'
import type { ProgramParts } from '../commands/programParts.ts'
import { ApiClient } from './api/apiClient.ts'
import { type ConnectionOptions, resolveConnection } from './connection/connection.ts'

/** What every command over the API takes. */
export interface ClientOptions extends ConnectionOptions {
  readonly json?: boolean
}

/** Adds `--url`, `--key` and `--json`, and examples below the command's help. */
export function withClientOptions(
  command: Command,
  { json, examples }: { json: string; examples: readonly string[] },
): Command {
  return command
    .option('--url <url>', 'the service; default CREEL_URL, the profile of `creel login`, or the data folder')
    .option('--key <key>', 'the API key; default CREEL_KEY, the profile, or one made beside a local service')
    .option('--json', json)
    .addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'))
}

/**
 * A client of the service that the options, the environment, the profile or the data folder name.
 *
 * @throws ClientError when none of them does
 */
export async function openApi(options: ConnectionOptions, parts: ProgramParts): Promise<ApiClient> {
  return new ApiClient(await resolveConnection(options, { environment: process.env, parts }))
}
