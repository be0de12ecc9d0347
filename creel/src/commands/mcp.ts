import type { ConnectionOptions } from '@creel/terminal/connection/connection'
import { openApi, withConnectionOptions } from '@creel/terminal/session'
import type { Command } from 'commander'
import { createCreel } from 'creel-client'
import type { ProgramTools } from '../programTools.ts'
import { VERSION } from '../version.ts'

interface McpOptions extends ConnectionOptions {
  readonly readOnly?: boolean
  readonly includeSecrets?: boolean
}

export function addMcpCommand(command: Command, tools: ProgramTools): void {
  withConnectionOptions(command)
    .option('--read-only', 'only tools that read')
    .option('--include-secrets', 'do not mask headers and members with names of credentials')
    .addHelpText(
      'after',
      ['', 'Examples:', '  creel mcp --read-only', '  claude mcp add creel -- creel mcp'].join('\n'),
    )
    .action(async (options: McpOptions) => {
      const { connection } = await openApi(options, tools)
      const { url, key } = connection
      const { serveMcpOnStdio } = await import('@creel/gateway/mcp')
      const send = (called: string, init: RequestInit) => fetch(called, { ...init, redirect: 'manual' })
      await serveMcpOnStdio({
        creel: createCreel({ url, key, retries: 0, fetch: send }),
        version: VERSION,
        readOnly: options.readOnly ?? false,
        includeSecrets: options.includeSecrets ?? false,
      })
    })
}
