import type { Command } from 'commander'
import { ApiClient } from './api/apiClient.ts'
import { type ConnectionOptions, resolveConnection } from './connection/connection.ts'
import { EXIT } from './exitCodes.ts'
import { type JsonOption, printHint, printJson } from './output/print.ts'
import type { Environment, TerminalTools } from './tools.ts'

export type ClientOptions = ConnectionOptions & JsonOption

/** How an argument or option names an endpoint, for `chooseEndpoint`. */
export const ENDPOINT_WORDS = 'name, id or capture URL; default CREEL_ENDPOINT, else the only one'
export const ENDPOINT_OPTION = ['-e, --endpoint <endpoint>', ENDPOINT_WORDS] as const

/** The option that names the endpoint of a request, for `endpointIdOf`. */
export const REQUEST_ENDPOINT_OPTION = [
  '-e, --endpoint <endpoint>',
  'name, id or capture URL; default the endpoint of the request',
] as const

/** Adds `--url` and `--key`. */
export function withConnectionOptions(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'URL of the service; default CREEL_URL, the profile of `creel login`, or one on this machine',
    )
    .option('--key <key>', 'API key; default CREEL_KEY, the profile, or that of a local service')
}

/** Adds `--url`, `--key` and `--json`, and examples below the command's help. */
export function withClientOptions(
  command: Command,
  { json, examples }: { json: string; examples: readonly string[] },
): Command {
  return withConnectionOptions(command)
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
  environment: Environment = process.env,
): Promise<ApiClient> {
  const connection = await resolveConnection(options, { environment, tools })
  const endpoint = environment.CREEL_ENDPOINT?.trim()
  const api = new ApiClient(endpoint ? { ...connection, endpoint } : connection)
  api.onWait = printHint
  return api
}

/** A verb of a command: its call, and the printed answer. */
interface Verb<Answer, Options, Argument> {
  /** Meaning of `--json`. */
  readonly json: string
  readonly examples: readonly string[]
  /** @returns undefined when nothing was done, for a reason that it has printed */
  readonly run: (
    api: ApiClient,
    options: Options,
    argument: Argument,
    second?: string,
  ) => Promise<Answer | undefined>
  /** Value that `--json` prints in place of the answer. A list gets a line for each item. */
  readonly inJson?: (answer: Answer) => unknown
  /** Whether the answer is a list that `--json` prints as one array. */
  readonly isOneArray?: true
  readonly print: (answer: Answer, options: Options, argument: Argument) => void | Promise<void>
}

/** Completes a command, which has its arguments and options already, with those of every client, its call and its output. */
export function addVerb<Answer, Options extends ClientOptions = ClientOptions, Argument = undefined>(
  command: Command,
  tools: TerminalTools,
  { json, examples, run, inJson, isOneArray, print }: Verb<Answer, Options, Argument>,
): void {
  withClientOptions(command, { json, examples }).action(async (...given) => {
    const options = given.at(-2)
    const [argument, second] = given.slice(0, -2)
    const answer = await run(await openApi(options, tools), options, argument, second)
    if (answer === undefined) return
    if (options.json !== true) return await print(answer, options, argument)
    const shown = inJson?.(answer) ?? answer
    if (!Array.isArray(shown) || isOneArray === true) return printJson(shown)
    for (const item of shown) printJson(item)
  })
}

/** Whether a command may do what cannot be undone; says what `--yes` would do if it is missing. */
export function isConfirmed({ yes }: { readonly yes?: boolean }, ...wouldDo: readonly string[]): boolean {
  if (yes === true) return true
  printHint(...wouldDo)
  process.exitCode = EXIT.usage
  return false
}
