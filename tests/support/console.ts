import type { Page } from 'playwright-core'
import { packConsole } from '../../scripts/console/pack.ts'
import { newPage } from './chromium.ts'
import type { Client } from './client.ts'
import { startService, type TestService, type TestServiceOptions } from './service.ts'

/** Timeout of waits for a page, long because machines that run tests are busy. */
const TIMEOUT_MS = 60_000

/** The console's files, built once for a test file. */
export const builtConsole = packConsole({ fast: true })

/** A service that serves the console. */
export async function startConsoleService(options: TestServiceOptions = {}): Promise<TestService> {
  const { pack } = await builtConsole
  return await startService({ ...options, consolePack: pack })
}

/** Holds the calls of a page whose names match, until they are released. */
export async function holdCalls(page: Page, name: RegExp) {
  const [called, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(
    ({ pathname }) => name.test(pathname),
    async (route) => {
      called.resolve()
      await released.promise
      await route.continue()
    },
  )
  /** `called` resolves once there is one. */
  return { called: called.promise, release: released.resolve }
}

/** A browser that is signed in. */
export interface ConsolePage {
  readonly page: Page
  /** Violations of the content security policy, and uncaught errors. There must be none. */
  readonly faults: readonly string[]
  /** Opens a screen of the console: `/e/…`. */
  goTo(path: string): Promise<void>
  /** Runs `work` while the page's processor is slowed down by a factor. */
  slowedDown(factor: number, work: () => Promise<void>): Promise<void>
}

export interface ConsoleOptions {
  readonly width?: number
  readonly height?: number
  /** Origin of the service, if it differs from the port that it listens on. */
  readonly origin?: string
}

/** Signs in a browser, with the token of a link if there is one, else with a client's key. */
export async function openConsole(
  client: Client,
  { width = 1280, height = 800, origin = client.baseUrl }: ConsoleOptions = {},
  link?: string,
): Promise<ConsolePage> {
  const page = await newPage({ width, height })
  page.setDefaultTimeout(TIMEOUT_MS)
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (/content security policy|trusted ?(types|html|script)/i.test(message.text()))
      faults.push(message.text())
  })
  const answer = await page.context().request.post(`${origin}/console/session`, {
    data: link === undefined ? { key: client.key } : { link },
    headers: { Origin: origin, 'Sec-Fetch-Site': 'same-origin' },
  })
  if (!answer.ok()) throw new Error(`The sign-in answered ${answer.status()}: ${await answer.text()}`)
  return {
    page,
    faults,
    async goTo(path) {
      await page.goto(`${origin}/console${path}`)
    },
    async slowedDown(rate, work) {
      const devTools = await page.context().newCDPSession(page)
      await devTools.send('Emulation.setCPUThrottlingRate', { rate })
      await work()
      await devTools.send('Emulation.setCPUThrottlingRate', { rate: 1 })
      await devTools.detach()
    },
  }
}
