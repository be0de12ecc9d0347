import type { Command } from 'commander'
import type { Me } from 'creel-client'
import { printJson, printText } from '../output/print.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

export function addWhoamiCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(command, {
    json: 'print service, key, workspace, plan and limits on one line',
    examples: ['creel whoami', 'creel whoami --url https://creel.example.com --key creel_live_…'],
  }).action(async (options: ClientOptions) => {
    const api = await openApi(options, tools)
    const me = await api.calls.me.get({})
    const { url, urlSource, keySource } = api.connection
    if (options.json === true) return printJson({ url, urlSource, keySource, ...me })
    printText(
      `Service    ${url} (from ${urlSource})`,
      `Key        ${me.key.prefix}… "${me.key.name}" (from ${keySource})`,
      `Scope      ${may(me.key)}`,
      `Workspace  ${me.workspace.name}${me.plan.key === 'self-hosted' ? '' : `, on the ${me.plan.displayName} plan`}`,
    )
  })
}

/** Scope, endpoint and expiry of the key. Services before scopes existed return none: their keys may do everything. */
function may({ scope = 'admin', endpointId, expiresAt }: Me['key']): string {
  const where = endpointId ? `, only endpoint ${endpointId}` : ''
  return `${scope}${where}${expiresAt ? `, until ${expiresAt}` : ''}`
}
