import type { Command } from 'commander'
import { type ApiClient, ApiProblem } from '../api/apiClient.ts'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { openInBrowser } from '../browser.ts'
import { printHint, printJson, printText } from '../output/print.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

interface OpenOptions extends ClientOptions {
  readonly print?: boolean
}

export function addOpenCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .argument('[endpoint]', 'endpoint to show: name, id or capture URL')
      .option('--print', 'print the URL instead of opening it'),
    {
      json: 'print {"url"} on one line instead of opening it',
      examples: ['creel open', 'creel open orders', 'creel open --print'],
    },
  ).action(async (wanted: string | undefined, options: OpenOptions) => {
    const api = await openApi(options, tools)
    const url = await consoleUrl(api, wanted, tools)
    if (options.json === true) return printJson({ url })
    if (options.print === true) return printText(url)
    await openInBrowser(url)
    printHint(`Opened the console of ${api.connection.url}.`)
  })
}

/**
 * A link that signs in once: as the owner on a local service; elsewhere with the rights of the key, if the key may
 * create links.
 */
export async function consoleUrl(
  api: ApiClient,
  wanted: string | undefined,
  tools: TerminalTools,
): Promise<string> {
  const page = wanted === undefined ? '/' : `/e/${(await chooseEndpoint(api, wanted)).id}`
  const link = await signInLink(api, tools).catch((error: unknown) => {
    if (!(error instanceof ApiProblem) || (error.status !== 403 && error.status !== 404)) throw error
    // A read-only key, or an older service: the console asks for the key itself.
    printHint('This key cannot create a sign-in link. The console will ask for a key.')
    return undefined
  })
  if (link === undefined) return `${api.connection.url}/console${page}`
  if (page === '/') return link
  const url = new URL(link)
  url.searchParams.set('to', page)
  return url.href
}

async function signInLink(api: ApiClient, tools: TerminalTools): Promise<string> {
  if (api.connection.dataDir === undefined) {
    return (await api.calls.sessions.signInLink({})).url
  }
  const { workspace } = await api.calls.me.get({})
  return await tools.localSignInLink(api.connection.dataDir, workspace.name)
}
