/**
 * `bun bench/console.ts [seconds]`: the console with 10,000 rows at 200 captures a second, the time until a capture is
 * shown, and the cost of 200 open pages for captures. Browser, senders and service share the machine.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { openBrowser } from './support/browser.ts'
import { load } from './support/load.ts'
import { openPages } from './support/openPages.ts'
import { percentile, report } from './support/report.ts'
import { type BenchEndpoint, startBenchService } from './support/workspace.ts'

const seconds = Number(process.argv[2] ?? 10)
const ROWS = 10_000
const FLOOD_PER_SECOND = 200
const FILL = { perSecond: 500, batch: 10 } as const
const SEEN_SAMPLES = 40
const SEEN_EVERY_MS = 150
const PAGES = 200
const SENDERS = 64
const ROUNDS = 3
const group = 'console'

/** Runs in the page: records when each label is first drawn. */
const WATCH_LABELS = `(() => {
  const shownAt = window.shownAt = {}
  const note = () => {
    for (const row of document.querySelectorAll('.list [role="row"]')) {
      const label = /seen-\\d+/.exec(row.textContent)?.[0]
      if (label !== undefined) shownAt[label] ??= Date.now()
    }
  }
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true })
})()`
/** Scrolls a screen every quarter of a second, down and up again. */
const SCROLL = `list.scrollTop = Math.abs(((frames * 60) % 120000) - 60000)`

await using service = await startBenchService()
const endpoint = await service.endpoint({ name: 'bench' })

const browser = await openBrowser()
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.request.post(`${service.baseUrl}/console/session`, {
    data: { key: service.key },
    headers: { Origin: service.baseUrl, 'Sec-Fetch-Site': 'same-origin' },
  })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  await page.goto(`${service.baseUrl}/console/e/${endpoint.id}`)
  await page.getByText('Live', { exact: true }).waitFor()

  await seen(page)
  await fill(page)
  const flooded = `${ROWS.toLocaleString('en')} rows, ${FLOOD_PER_SECOND} captures/s`
  reportFrames(`${flooded}, at the top`, await framesDuring(page, ''), 55)
  reportFrames(`${flooded}, scrolled`, await framesDuring(page, SCROLL), 50)
  await context.close()
} finally {
  await browser.close()
}
await costOfPages()

/** Measures the time until a capture is in the list, at a rate at which each is shown separately. */
async function seen(page: Page): Promise<void> {
  await page.evaluate(WATCH_LABELS)
  const sentAt: number[] = []
  for (let sample = 0; sample < SEEN_SAMPLES; sample += 1) {
    sentAt.push(Date.now())
    await send(endpoint, { type: `seen-${sample}` })
    await sleep(SEEN_EVERY_MS)
  }
  await page
    .getByText(`seen-${SEEN_SAMPLES - 1}`, { exact: true })
    .first()
    .waitFor()
  const shownAt = Object(await page.evaluate('window.shownAt'))
  const delays = sentAt.map((at, sample) => Number(shownAt[`seen-${sample}`]) - at).filter(Number.isFinite)
  report({
    group,
    name: 'capture to seen, p50',
    value: percentile(delays, 0.5),
    unit: 'ms',
    goal: { atMost: 100 },
  })
  report({ group, name: 'capture to seen, p95', value: percentile(delays, 0.95), unit: 'ms' })
}

async function fill(page: Page): Promise<void> {
  const began = performance.now()
  for (let sent = 0; sent < ROWS; sent += FILL.batch) {
    await Promise.all(
      Array.from({ length: FILL.batch }, (_, at) => send(endpoint, { type: `row-${sent + at}` })),
    )
    const ahead = (sent / FILL.perSecond) * 1000 - (performance.now() - began)
    if (ahead > 0) await sleep(ahead)
  }
  await page.getByText(/^1\d\s\d{3}\s+stored$/).waitFor()
}

/** Frames of the page, and the processor time of its main thread for each. */
interface Frames {
  readonly perSecond: number
  readonly scriptMs: number
  readonly layoutMs: number
}

function reportFrames(name: string, { perSecond, scriptMs, layoutMs }: Frames, goal: number): void {
  report({ group, name, value: perSecond, unit: 'fps', goal: { atLeast: goal } })
  report({ group, name: `${name}: script a frame`, value: scriptMs, unit: 'ms' })
  report({ group, name: `${name}: styles and layout a frame`, value: layoutMs, unit: 'ms' })
}

/** Frames while captures arrive; the page runs `work` meanwhile. */
async function framesDuring(page: Page, work: string): Promise<Frames> {
  const flood = sendSteadily()
  await sleep(500)
  const time = await mainThreadTime(page)
  const before = await time()
  const frames = Number(
    await page.evaluate(`(async () => {
      let frames = 0
      const list = document.querySelector('.list')
      const end = performance.now() + ${seconds * 1000}
      while (performance.now() < end) {
        await new Promise((resolve) => requestAnimationFrame(resolve))
        frames += 1
        ${work}
      }
      return frames
    })()`),
  )
  const after = await time()
  flood.stop()
  await flood.done
  const perFrame = (...names: string[]) =>
    names.reduce((sum, name) => sum + (((after[name] ?? 0) - (before[name] ?? 0)) * 1000) / frames, 0)
  return {
    perSecond: frames / seconds,
    scriptMs: perFrame('ScriptDuration'),
    layoutMs: perFrame('LayoutDuration', 'RecalcStyleDuration'),
  }
}

/** Seconds of processor time of the page's main thread by activity, since wall time means little on a busy machine. */
async function mainThreadTime(page: Page): Promise<() => Promise<Readonly<Record<string, number>>>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]))
  }
}

function sendSteadily() {
  let isOver = false
  const run = async () => {
    const began = performance.now()
    for (let sent = 0; !isOver; sent += 1) {
      void send(endpoint, { type: `flood-${sent}` })
      const ahead = (sent / FLOOD_PER_SECOND) * 1000 - (performance.now() - began)
      if (ahead > 0) await sleep(ahead)
    }
  }
  return {
    done: run(),
    stop() {
      isOver = true
    },
  }
}

/** The rate of captures with and without readers of their stream, in turns, so that other work affects both. */
async function costOfPages(): Promise<void> {
  const rates = { alone: 0, watched: 0 }
  await captureRate(await service.endpoint({ name: 'warm-up' }))
  for (let round = 0; round < ROUNDS; round += 1) {
    const watched = await service.endpoint({ name: `rate ${round}` })
    rates.alone += await captureRate(watched)
    const { baseUrl, key } = service
    const pages = await openPages({ baseUrl, key, endpointId: watched.id, pages: PAGES })
    rates.watched += await captureRate(watched)
    await pages.close()
  }
  report({ group, name: 'captures, alone', value: rates.alone / ROUNDS, unit: '/s' })
  report({ group, name: `captures, with ${PAGES} open pages`, value: rates.watched / ROUNDS, unit: '/s' })
  report({
    group,
    name: `what ${PAGES} open pages take of the rate, readers included`,
    value: Math.max(0, 100 * (1 - rates.watched / rates.alone)),
    unit: '%',
    goal: { atMost: 10 },
  })
}

async function captureRate({ url }: BenchEndpoint): Promise<number> {
  const body = JSON.stringify({ type: 'rate' })
  const { perSecond } = await load({ url, connections: SENDERS, seconds, warmupSeconds: 1, body })
  return perSecond
}

async function send({ url }: BenchEndpoint, body: object): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  await answer.body?.cancel()
}
