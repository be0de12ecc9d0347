import type { Command } from 'commander'
import type { Me } from 'creel-client'
import { printText } from '../output/print.ts'
import { addVerb } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

export function addWhoamiCommand(command: Command, tools: TerminalTools): void {
  addVerb(command, tools, {
    json: 'print service, key, workspace, plan and limits on one line',
    examples: ['creel whoami', 'creel whoami --url https://creel.example.com --key creel_live_…'],
    run: async ({ calls, connection: { url, urlSource, keySource } }) => ({
      url,
      urlSource,
      keySource,
      ...(await calls.me.get({})),
    }),
    print: ({ url, urlSource, keySource, key, plan, workspace }) =>
      printText(
        `Service    ${url} (from ${urlSource})`,
        `Key        ${key.prefix}… "${key.name}" (from ${keySource})`,
        `Scope      ${may(key)}`,
        `Workspace  ${workspace.name}${plan.key === 'self-hosted' ? '' : `, on the ${plan.displayName} plan`}`,
      ),
  })
}

/** Scope, endpoint and expiry of the key. Services before scopes existed return none: their keys may do everything. */
function may({ scope = 'admin', endpointId, expiresAt }: Me['key']): string {
  const where = endpointId ? `, only endpoint ${endpointId}` : ''
  return `${scope}${where}${expiresAt ? `, until ${expiresAt}` : ''}`
}
