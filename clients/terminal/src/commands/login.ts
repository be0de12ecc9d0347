import { createInterface, type Interface } from 'node:readline/promises'
import type { Command } from 'commander'
import type { Me } from 'creel-client'
import { ApiClient } from '../api/apiClient.ts'
import { usageError } from '../clientError.ts'
import { baseUrlOf } from '../connection/connection.ts'
import { removeProfile, writeProfile } from '../connection/profile.ts'
import { printJson, printText } from '../output/print.ts'
import { addVerb, type ClientOptions, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'

export function addLoginCommand(command: Command, _tools: TerminalTools): void {
  withClientOptions(command, {
    json: 'print {"file","url","workspace"} on one line',
    examples: [
      'creel login                                        asks for address and key',
      'creel login --url https://creel.example.com < key.txt',
      'creel login --url http://127.0.0.1:4400 --key creel_live_…',
    ],
  }).action(login)
}

async function login(options: ClientOptions): Promise<void> {
  const { url, key } = await credentials(options)
  if (url === '') throw usageError('The address of the service is missing.', 'Give it with --url.')
  if (key === '') throw usageError('The API key is missing.', 'Give it with --key, or on stdin.')
  const connection = { url: baseUrlOf(url, '--url'), key, urlSource: '--url', keySource: 'the input' }
  const me = await new ApiClient(connection).calls.me.get({})
  const file = await writeProfile(process.env, { url: connection.url, key })
  if (options.json === true) return printJson({ file, url: connection.url, workspace: me.workspace.name })
  printText(
    `Logged in to ${connection.url}: workspace ${me.workspace.name}, key "${me.key.name}".`,
    `The key is saved in ${file}, readable by you only.`,
  )
}

/** Asks for what neither options nor variables name: on a terminal, else the lines of stdin in this order. */
async function credentials(options: ClientOptions): Promise<{ url: string; key: string }> {
  // One reader for both: it reads ahead, and what it has read is lost to another.
  let lines: Interface | undefined
  let piped: AsyncIterator<string> | undefined
  const asked = async (question: string) => {
    lines ??= createInterface({ input: process.stdin, output: process.stderr, terminal: false })
    if (process.stdin.isTTY === true) return (await lines.question(question)).trim()
    piped ??= lines[Symbol.asyncIterator]()
    const { value, done } = await piped.next()
    return done === true ? '' : value.trim()
  }
  try {
    const url = options.url ?? process.env.CREEL_URL ?? (await asked('Address of the service: '))
    const key = options.key ?? process.env.CREEL_KEY ?? (await asked('API key: '))
    return { url, key: key.trim() }
  } finally {
    lines?.close()
  }
}

export function addLogoutCommand(command: Command, _tools: TerminalTools): void {
  command
    .option('--json', 'print {"removed"} on one line')
    .action(async ({ json }: Pick<ClientOptions, 'json'>) => {
      const removed = await removeProfile(process.env)
      if (json === true) return printJson({ removed })
      printText(
        removed
          ? 'The saved key is removed. It is still valid; `creel key revoke` ends it.'
          : 'No key was saved.',
      )
    })
}

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
