import type { Command } from 'commander'
import { ApiClient } from './api/apiClient.ts'
import { type ConnectionOptions, resolveConnection } from './connection/connection.ts'
import { printHint } from './output/print.ts'
import type { TerminalTools } from './tools.ts'

export interface ClientOptions extends ConnectionOptions {
  readonly json?: boolean
}

/** Adds `--url`, `--key` and `--json`, and examples below the command's help. */
export function withClientOptions(
  command: Command,
  { json, examples }: { json: string; examples: readonly string[] },
): Command {
  return command
    .option(
      '--url <url>',
      'URL of the service; default CREEL_URL, the profile of `creel login`, or one on this machine',
    )
    .option('--key <key>', 'API key; default CREEL_KEY, the profile, or that of a local service')
    .option('--json', json)
    .addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'))
}

/**
 * Creates a client for the service that the options, the environment or the profile name, else for one that runs on
 * this machine.
 *
 * @param environment replaces the environment of the process
 * @throws ClientError when there is none
 */
export async function openApi(
  options: ConnectionOptions,
  tools: TerminalTools,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ApiClient> {
  const connection = await resolveConnection(options, { environment, tools })
  const endpoint = environment.CREEL_ENDPOINT?.trim()
  const api = new ApiClient(endpoint ? { ...connection, endpoint } : connection)
  api.onWait = printHint
  return api
}
