import type { Command } from 'commander'
import { printHint, printJson, printText } from '../../commands/print.ts'
import type { ProgramTools } from '../../programTools.ts'
import type { ApiClient } from '../api/apiClient.ts'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { Me } from '../api/shapes.ts'
import { openInBrowser } from '../browser.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'

interface OpenOptions extends ClientOptions {
  readonly print?: boolean
}

/** `creel open` */
export function addOpenCommand(command: Command, tools: ProgramTools): void {
  withClientOptions(
    command
      .argument('[endpoint]', 'show its captures; name, id or capture URL')
      .option('--print', 'print the address and open nothing'),
    {
      json: 'print {"url"} on one line and open nothing',
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
 * Beside a local service a link that signs in, once. Elsewhere the console itself, which asks for a key: whoever may make such
 * a link has the database.
 */
async function consoleUrl(api: ApiClient, wanted: string | undefined, tools: ProgramTools): Promise<string> {
  if (wanted !== undefined) {
    const { id } = await chooseEndpoint(api, wanted)
    return `${api.connection.url}/console/e/${id}`
  }
  const { workspace } = await api.get('/api/v1/me', Me)
  if (api.connection.renewKey === undefined) return `${api.connection.url}/console/`
  const { asOperator } = await import('../../commands/operatorSession.ts')
  const link = await asOperator(tools, (operator) => operator.sessions.link({ workspace: workspace.name }))
  return link.url
}
