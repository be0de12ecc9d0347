import { beforeAll, describe, expect, test } from 'bun:test'
import { type ConsolePage, openConsole, startConsoleService } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import type { TestService } from '../support/service.ts'

let service: TestService
let opened: ConsolePage

beforeAll(async () => {
  service = await startConsoleService({ parts: ['gateway'], limits: { captureRatePerMinute: 100_000 } })
  opened = await openConsole(service.alice)
})

const rows = '.list [role="row"]'

/** Runs in the page: scrolls through the whole list and counts the rows that were drawn. */
const COUNT_ROWS = `(async () => {
  const list = document.querySelector('.list')
  const seen = new Set()
  for (let top = 0; top <= list.scrollHeight; top += list.clientHeight / 2) {
    list.scrollTop = top
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    for (const row of list.querySelectorAll('[role="row"]')) seen.add(row.getAttribute('aria-rowindex'))
  }
  return seen.size
})()`

describe('the captures of an endpoint', () => {
  test('the first one appears as it arrives and opens itself', async () => {
    const endpoint = await service.alice.endpoint({ name: 'first' })
    const { page, faults } = opened
    await opened.goTo(`/e/${endpoint.id}`)
    await page.getByText('Waiting for the first webhook').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await endpoint.capture({ body: '{"hello":"world","digits":1.10}' })
    await page.getByRole('complementary', { name: 'Request' }).waitFor()
    // The text is as it was sent, not reformatted by a parser.
    const line = page.locator('.line', { hasText: '1.10' })
    await line.click()
    await page.locator('.path-bar', { hasText: 'body.digits' }).waitFor()
    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await page.getByRole('link', { name: 'Add action' }).waitFor()
    expect(new URL(page.url()).searchParams.get('r')).toMatch(/^\d+$/)
    expect(faults).toEqual([])
  })

  test('endpoints of one name are told apart by their ids', async () => {
    const namesakes = [
      await service.alice.endpoint({ name: 'namesake' }),
      await service.alice.endpoint({ name: 'namesake' }),
    ]
    await opened.goTo('/usage')
    for (const { id } of namesakes) {
      await opened.page.getByRole('link', { name: `namesake ${id.slice(0, 4)}` }).waitFor()
    }
    expect(await opened.page.locator('.endpoints .hint').count()).toBe(2)
    await opened.page.keyboard.press('Control+k')
    await opened.page.keyboard.type('namesake')
    for (const { id } of namesakes) {
      await opened.page.getByRole('option', { name: `namesake endpoint ${id.slice(0, 4)}` }).waitFor()
    }
    await opened.page.keyboard.press('Escape')
  })

  test('a search stands in the address, filters what arrives, and outlives a reload', async () => {
    const endpoint = await service.alice.endpoint({ name: 'search' })
    await endpoint.capture({ body: '{"type":"one"}', method: 'PUT' })
    await endpoint.capture({ body: '{"type":"two"}' })
    const { page } = opened
    await opened.goTo(`/e/${endpoint.id}`)
    await page.locator(rows).nth(1).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('method:put')
    await page.keyboard.press('Enter')
    await page.getByText('1 match').waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('method:put')
    await page.reload()
    await page.getByText('1 match').waitFor()
    await endpoint.capture({ body: '{"type":"three"}' })
    await endpoint.capture({ body: '{"type":"four"}', method: 'PUT' })
    await page.getByText('2 match').waitFor()
    expect(await page.locator(rows).count()).toBe(2)
    await page.getByText('+1 other').waitFor()
    await page.getByRole('button', { name: /remove/ }).click()
    await page.getByText('4 stored').waitFor()
  })

  test('what was typed last does not search on another screen', async () => {
    const endpoint = await service.alice.endpoint({ name: 'left' })
    const { page } = opened
    await opened.goTo(`/e/${endpoint.id}/settings`)
    await page.getByRole('button', { name: 'Discard changes' }).waitFor()
    await page.getByRole('link', { name: 'Captures' }).click()
    await page.getByRole('combobox', { name: 'Search captures' }).waitFor()
    // In one task, so that the pause after typing cannot end before. The page's own timer of a longer time ends after it.
    const address = await page.evaluate(`(async () => {
      const input = document.querySelector('#search')
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, 'late')
      input.dispatchEvent(new Event('input', { bubbles: true }))
      document.querySelector('a[href$="/settings"]').click()
      await new Promise((resolve) => setTimeout(resolve, 300))
      return location.pathname + location.search
    })()`)
    expect(address).toBe(`/console/e/${endpoint.id}/settings`)
  })

  test('a flood of 2,000 keeps every id', async () => {
    const endpoint = await service.alice.endpoint({ name: 'flood' })
    const { page } = opened
    await opened.goTo(`/e/${endpoint.id}`)
    await page.getByText('Live', { exact: true }).waitFor()
    const send = async () => {
      for (let at = 0; at < 100; at += 1) {
        const answer = await endpoint.send()
        expect(answer.status).toBe(200)
        await answer.body?.cancel()
      }
    }
    await Promise.all(Array.from({ length: 20 }, send))
    await page.getByText('2 000 stored').waitFor()
    // A high window shows the list in few steps. Each waits for two frames, in which a busy machine may not draw all.
    await page.setViewportSize({ width: 1280, height: 4000 })
    await eventually('2,000 rows', async () => (await page.evaluate(COUNT_ROWS)) === 2000)
    await page.setViewportSize({ width: 1280, height: 800 })
    // When scrolled down, the list does not move and counts new requests. They are inserted above, or the reader jumps
    // to them.
    await page.evaluate(`document.querySelector('.list').scrollTop = 3400`)
    const place = `[document.querySelector('.list').scrollTop, document.querySelector('.list').scrollHeight / 34]`
    await page.getByText('2 000 stored').waitFor()
    await endpoint.capture()
    await endpoint.capture({ body: '{"type":"newest"}' })
    await page.getByRole('button', { name: '2 new' }).waitFor()
    expect(await page.evaluate(place)).toEqual([3400, 2000])
    await page.evaluate(`document.querySelector('.list').scrollTop = 0`)
    await page.getByRole('button', { name: '2 new' }).waitFor({ state: 'detached' })
    expect(await page.evaluate(place)).toEqual([68, 2002])
    await endpoint.capture()
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await page.keyboard.press('g')
    await page.getByRole('button', { name: '1 new' }).waitFor({ state: 'detached' })
    expect(await page.evaluate(place)).toEqual([0, 2003])
  })

  test('paused, it holds what arrives and shows it when it goes on', async () => {
    const endpoint = await service.alice.endpoint({ name: 'pause' })
    await endpoint.capture()
    const { page } = opened
    await opened.goTo(`/e/${endpoint.id}`)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.keyboard.press('p')
    await page.getByText('Paused', { exact: true }).waitFor()
    await endpoint.capture()
    await page.getByRole('button', { name: 'Show 1' }).waitFor()
    expect(await page.locator(rows).count()).toBe(1)
    await page.keyboard.press('p')
    await page.locator(rows).nth(1).waitFor()
  })

  test('a deleted capture leaves the list at once, and comes back by undo', async () => {
    const endpoint = await service.alice.endpoint({ name: 'delete' })
    await endpoint.captureMany(3)
    const { page } = opened
    await opened.goTo(`/e/${endpoint.id}`)
    await page.locator(rows).nth(2).waitFor()
    await page.keyboard.press('j')
    await page.getByRole('complementary', { name: 'Request' }).waitFor()
    await page.keyboard.press('Delete')
    await page.getByText('2 stored').waitFor()
    expect(await page.locator(rows).count()).toBe(2)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.locator(rows).nth(2).waitFor()
  })

  test('a capture is saved as a HAR file, its body as it was sent', async () => {
    const endpoint = await service.alice.endpoint({ name: 'saved' })
    await endpoint.capture({ body: '{"digits":1.10}' })
    const { page, faults } = opened
    await opened.goTo(`/e/${endpoint.id}`)
    await page.locator(rows).first().click()
    await page.getByRole('button', { name: 'More' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Save as HAR' }).click()
    const file = await saved
    expect(file.suggestedFilename()).toMatch(/^request-\d+\.har$/)
    const { log } = await Bun.file(await file.path()).json()
    expect(log.entries[0].request.postData.text).toBe('{"digits":1.10}')
    expect(faults).toEqual([])
  })

  test('the keyboard alone is enough: find, open, look around, close', async () => {
    const endpoint = await service.alice.endpoint({ name: 'keys' })
    await endpoint.capture({ body: '{"a":1}', suffix: '?tenant=acme' })
    const { page } = opened
    await opened.goTo(`/e/${endpoint.id}`)
    await page.locator(rows).first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('tab', { name: /Body/, selected: true }).waitFor()
    // So that screen readers say it, though the focus stays on the list.
    const active = await page.locator('.list').getAttribute('aria-activedescendant')
    await page.locator(`#${active}[aria-selected="true"]`).waitFor()
    await page.keyboard.press('3')
    await page.getByRole('cell', { name: /acme/ }).waitFor()
    await page.keyboard.press('1')
    await page.keyboard.press('v')
    await page.getByRole('radio', { name: 'Raw', checked: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary', { name: 'Request' }).waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Go to a page or run a command' }).waitFor()
    await page.keyboard.type('recycle')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Recycle bin', exact: true }).waitFor()
  })

  test('an endpoint gets a new capture URL, and the old one goes on as long as is chosen', async () => {
    const endpoint = await service.alice.endpoint({ name: 'leaked' })
    const { page, faults } = opened
    await opened.goTo(`/e/${endpoint.id}/settings`)
    await page.getByRole('button', { name: 'New capture URL…' }).click()
    await page.getByRole('button', { name: 'Create new URL' }).click()
    await page.getByText('The previous URL still works. It ends in 24h.').waitFor()
    const shown = await page.getByRole('region', { name: 'Capture URL' }).getByRole('code').textContent()
    expect(shown).not.toBe(endpoint.url)
    expect((await fetch(shown ?? '', { method: 'POST' })).status).toBe(200)
    expect((await fetch(endpoint.url, { method: 'POST' })).status).toBe(200)
    expect(faults).toEqual([])
  })

  test('a sample event is sent, and opens as the first capture', async () => {
    const endpoint = await service.alice.endpoint({
      name: 'sampled',
      provider: 'stripe',
      signingSecret: 'whsec_x',
    })
    const { page, faults } = opened
    await opened.goTo(`/e/${endpoint.id}`)
    await page.getByRole('button', { name: 'Send a sample event' }).last().click()
    const dialog = page.getByRole('dialog', { name: 'Send a sample event' })
    await dialog.getByLabel('Event').selectOption('invoice.paid')
    await dialog.getByText('The invoice of a subscription was paid').waitFor()
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'invoice.paid' }).waitFor()
    await page.getByText('Signature verified.').waitFor()
    expect(faults).toEqual([])
  })

  test('narrow: one pane at a time, and a way back', async () => {
    const endpoint = await service.alice.endpoint({ name: 'narrow' })
    await endpoint.capture()
    const { page } = opened
    await page.setViewportSize({ width: 390, height: 800 })
    await opened.goTo(`/e/${endpoint.id}`)
    await page.locator(rows).first().click()
    await page.getByRole('complementary', { name: 'Request' }).waitFor()
    expect(await page.locator('.list').isVisible()).toBe(false)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.setViewportSize({ width: 360, height: 740 })
    await opened.goTo(`/e/${endpoint.id}`)
    const head = await page.getByRole('heading', { name: 'narrow' }).boundingBox()
    const places = await page.getByRole('link', { name: 'Settings' }).boundingBox()
    expect(head?.y).toBeGreaterThanOrEqual(0)
    expect((places?.x ?? 999) + (places?.width ?? 999)).toBeLessThanOrEqual(360)
    await page.locator(rows).first().click()
    await page.getByRole('complementary', { name: 'Request' }).waitFor()
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await page.locator(rows).first().waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  test('markup, bidirectional marks and 200 headers in every field are shown as text', async () => {
    const hostile = '</script><img src=x onerror=alert(1)>\u202eabc'
    const endpoint = await service.alice.endpoint({ name: hostile })
    const headers = Object.fromEntries(Array.from({ length: 190 }, (_, at) => [`x-${at}`, '</script>']))
    await endpoint.capture({
      body: JSON.stringify({ type: hostile }),
      headers,
      suffix: `/${encodeURIComponent(hostile)}`,
    })
    const { page, faults } = opened
    await opened.goTo(`/e/${endpoint.id}`)
    await page.locator(rows).first().click()
    await page.getByRole('tab', { name: /Headers/ }).click()
    await page.getByRole('rowheader', { name: 'x-189' }).waitFor()
    // The mark that would reverse the rest of the line is escaped.
    await page.getByRole('heading', { name: `onerror=alert(1)>⟨U+202E⟩abc` }).waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expect(faults).toEqual([])
  })
})
