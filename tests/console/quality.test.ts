import { beforeAll, expect, test } from 'bun:test'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import type { TestEndpoint } from '../support/client.ts'
import { builtConsole, type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'

let opened: ConsolePage
let endpoint: TestEndpoint
let requestId: number

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const KILOBYTE = 1000

beforeAll(async () => {
  const service = await startConsoleService()
  endpoint = await service.alice.endpoint({ name: 'axe' })
  requestId = (await endpoint.capture({ body: '{"type":"a","n":[1,2]}', suffix: '/x?a=1' })).id
  await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: 'http://127.0.0.1:9/x' })
  await service.alice.post('/api/v1/watchdogs', { endpointId: endpoint.id, expectedIntervalSeconds: 3600 })
  opened = await openConsole(service.alice)
})

/** Each screen, and a selector that shows that it has loaded. */
const places = (): Readonly<Record<string, readonly [path: string, sign: string]>> => {
  const home = `/e/${endpoint.id}`
  return {
    captures: [home, '.row'],
    body: [`${home}?r=${requestId}`, '.line'],
    deliveries: [`${home}?r=${requestId}&tab=deliveries`, '#panel-deliveries'],
    edited: [`${home}?r=${requestId}&edit=1`, '.sending .cm-content'],
    actions: [`${home}/actions/new`, '.condition-test'],
    rules: [`${home}/rules`, '.step'],
    rehearse: [`${home}/rehearse`, 'form'],
    settings: [`${home}/settings`, '#provider'],
    watchdogs: ['/watchdogs', '.timeline svg'],
    alerts: ['/alerts', 'main h2'],
    bin: ['/bin', 'main h1'],
    usage: ['/usage', '.days'],
    health: ['/health', 'main h2'],
    access: ['/access', '.banner'],
  }
}

/** Faults of the current page. A theme changes colours only, so all but the first are checked only for these. */
async function violations(page: Page, rules: unknown): Promise<string[]> {
  // The page's policy forbids scripts from strings; evaluation through the debugger is allowed.
  const session = await page.context().newCDPSession(page)
  const options = JSON.stringify({ ...Object(rules), resultTypes: ['violations'] })
  // The script has half a megabyte and is loaded once a page.
  const isThere = await session.send('Runtime.evaluate', { expression: `'axe' in globalThis` })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `${isThere.result.value === true ? '' : axe.source}; axe.run(document, ${options}).then(({ violations }) => JSON.stringify(violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', '))))`,
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  const found: unknown = JSON.parse(String(result.value))
  return Array.isArray(found) ? found.map(String) : ['axe did not run']
}

test('every place is accessible, in both themes, wide and narrow', async () => {
  const { page } = opened
  const found: string[] = []
  await opened.goTo('/usage')
  for (const [name, [path, sign]] of Object.entries(places())) {
    await page.evaluate(`history.pushState(null, '', '/console${path}')`)
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.locator(sign).first().waitFor()
      // Folded sections are checked, too.
      await page.evaluate("for (const one of document.querySelectorAll('.form-section')) one.open = true")
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        // Colours are the same at every width.
        if (colorScheme === 'dark' && width < 1440) continue
        const rules = colorScheme === 'light' ? { runOnly: RULES } : { runOnly: ['color-contrast'] }
        const wrong = await violations(page, rules)
        found.push(...wrong.map((what) => `${name}, ${colorScheme}, ${width}: ${what}`))
      }
    }
  }
  expect(found).toEqual([])
  expect(opened.faults).toEqual([])
})

test('the first screen and the editor stay within their sizes', async () => {
  const { files, firstScreen } = await builtConsole
  const gzip = (some: typeof files) => some.reduce((sum, { bodies }) => sum + bodies.gzip[1], 0)
  expect(firstScreen.length).toBeGreaterThan(2)
  expect(gzip(firstScreen)).toBeLessThanOrEqual(152 * KILOBYTE)
  const editor = files.filter(({ path }) => path.startsWith('LoadedEditor-'))
  expect(editor).toHaveLength(1)
  expect(gzip(editor)).toBeLessThanOrEqual(135 * KILOBYTE)
})
