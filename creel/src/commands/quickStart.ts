import type { ApiClient } from '@creel/terminal/api/apiClient'
import { allEndpoints, lastUsed } from '@creel/terminal/api/endpointChoice'
import { canOpenBrowser, openInBrowser } from '@creel/terminal/browser'
import { consoleUrl } from '@creel/terminal/commands/open'
import { readProfile } from '@creel/terminal/connection/profile'
import { printHint, printText } from '@creel/terminal/output/print'
import { openApi } from '@creel/terminal/session'
import type { Environment } from '@creel/terminal/tools'
import type { Command } from 'commander'
import { retentionLine } from '../longRetention.ts'
import type { ProgramTools } from '../programTools.ts'
import { readyBlock } from '../readyBlock.ts'
import { runningService, startQuickService } from '../serving/quickService.ts'
import { environmentWith, type PlaceOptions, withPlaceOptions } from './serve.ts'

interface QuickStartOptions extends PlaceOptions {
  readonly open: boolean
}

export function addQuickStartCommand(command: Command, tools: ProgramTools): void {
  withPlaceOptions(command)
    .option('--no-open', 'print the link instead of opening a browser')
    .action(async (options: QuickStartOptions) => {
      const environment = environmentWith(process.env, options)
      const running = await runningService(environment)
      if (running !== undefined) {
        printHint(`Creel already runs on ${running.url}. Data folder: ${running.dataDir}.`)
        return await show(await openLocal(running.url, environment, tools), { options, tools })
      }
      const service = await startQuickService(environment, tools, { logLevel: 'warn', handlesSignals: true })
      printHint(`Creel runs on ${service.url}. Data folder: ${service.dataDir}. Press Ctrl-C to stop it.`)
      try {
        await show(await openLocal(service.url, environment, tools), { options, tools })
        process.exitCode = await service.stopAsked
      } finally {
        await service.close()
      }
      process.exit()
    })
}

/** Connects to the service of this machine and ignores `CREEL_KEY`, which may belong to another service. */
async function openLocal(url: string, environment: Environment, tools: ProgramTools): Promise<ApiClient> {
  const others = Object.entries(environment).filter(([name]) => name !== 'CREEL_KEY')
  return await openApi({ url }, tools, Object.fromEntries(others))
}

async function show(
  api: ApiClient,
  { options, tools }: { readonly options: QuickStartOptions; readonly tools: ProgramTools },
): Promise<void> {
  const { url: baseUrl, key } = api.connection
  const { url: captureUrl } = await quickEndpoint(api)
  const hasConsole = await fetch(`${baseUrl}/console/`, { redirect: 'manual' }).then(
    ({ ok }) => ok,
    () => false,
  )
  const link = hasConsole ? await consoleUrl(api, undefined, tools) : null
  const isOpened = link !== null && options.open && canOpenBrowser() && (await tryToOpen(link))
  const me = await api.calls.me.get({})
  const retention = retentionLine(me.plan.key, me.limits.retentionDays)
  const signInUrl = isOpened ? null : link
  const { command = 'creel' } = tools
  printText(...readyBlock({ baseUrl, captureUrl, key, signInUrl, isKeyNew: false, command, retention }))
  if (isOpened) printHint(`The console is open in your browser. \`${command} open\` opens it again.`)
  const other = process.env.CREEL_URL || (await readProfile(process.env))?.url
  if (other !== undefined && other !== baseUrl) {
    printHint(`Other commands use ${other}. Add --url ${baseUrl} to use this service.`)
  }
}

/** The endpoint with the latest capture, else the newest; creates one if there is none. */
async function quickEndpoint(api: ApiClient): Promise<{ readonly url: string }> {
  const [first, ...others] = await allEndpoints(api)
  if (first === undefined) {
    return await api.calls.endpoints.create({ name: 'My first endpoint' })
  }
  return lastUsed([first, ...others])
}

const tryToOpen = (link: string): Promise<boolean> =>
  openInBrowser(link).then(
    () => true,
    () => false,
  )
