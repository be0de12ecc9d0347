import { expect, test } from 'bun:test'
import { z } from 'zod'
import { Client } from '../support/client.ts'
import { openConsole, startConsoleService } from '../support/console.ts'

/** A session of a key that can only read: it sees everything, and nothing that it may not press. */

const REASON = 'This key can only read.'

/** Runs in the page: the names of the controls of the page that can be used. */
const USABLE = `[...document.querySelectorAll('main :is(button, input, select, textarea):not(:disabled)')]
  .filter((control) => control.checkVisibility())
  .map((control) => (control.textContent || control.getAttribute('aria-label') || control.name || control.id).trim())`

test('controls that change something are disabled for a key that can only read, and say why', async () => {
  const service = await startConsoleService({ parts: ['gateway'] })
  const { alice } = service
  const endpoint = await alice.endpoint({ name: 'read' })
  const { id } = await endpoint.capture({ body: '{"type":"order.paid"}' })
  await alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url: 'http://127.0.0.1:9/' })
  await alice.post('/api/v1/watchdogs', { endpointId: endpoint.id, expectedIntervalSeconds: 3600 })
  await alice.post('/api/v1/alert-channels', { kind: 'ntfy', name: 'ops', settings: { topic: 'creel' } })
  const { key } = await alice.expect(
    alice.post('/api/v1/keys', { name: 'reader', scope: 'read' }),
    z.looseObject({ key: z.string() }),
  )
  const { baseUrl, captureUrl, workspaceId } = alice
  const { page, goTo, faults } = await openConsole(new Client(baseUrl, captureUrl, key, workspaceId))
  const home = `/e/${endpoint.id}`
  const places: Readonly<Record<string, readonly [sign: string, ...usable: string[]]>> = {
    [`${home}/settings`]: ['#senders'],
    [`${home}/actions`]: ['main >> text=Billing'],
    [`${home}/rehearse`]: ['main form'],
    '/watchdogs': ['.timeline svg'],
    '/alerts': ['main >> text=ops', 'All channelsops', 'All outcomesdeliveredfailedmutedsuppressed'],
  }
  for (const [path, [sign, ...usable]] of Object.entries(places)) {
    await goTo(path)
    await page.locator(sign).first().waitFor()
    await page.locator('fieldset.writes:disabled').first().waitFor()
    const found = await page.evaluate<string[]>(USABLE)
    // Copying changes nothing.
    expect([path, ...found.filter((name) => name !== '' && !/^127|^http|Copy/.test(name))]).toEqual([
      path,
      ...usable,
    ])
  }
  await goTo(`${home}?r=${id}`)
  const replay = page.getByRole('button', { name: 'Replay', exact: true })
  await page.locator('fieldset.writes:disabled').first().waitFor()
  expect(await replay.isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'New endpoint' }).isDisabled()).toBe(true)
  expect(await replay.locator('xpath=ancestor::fieldset').getAttribute('title')).toBe(REASON)
  // The keys that would do the same say so, too.
  await page.keyboard.press('r')
  await page.getByText(REASON).waitFor()
  expect(await page.getByRole('button', { name: 'curl' }).isEnabled()).toBe(true)
  // Addresses that open a form show it, disabled.
  for (const form of [`?r=${id}&edit=1`, '?sample=1']) {
    await goTo(home + form)
    const send = page.getByRole('dialog').getByRole('button', { name: 'Send' })
    await page.locator('dialog fieldset.writes:disabled').waitFor()
    expect(await send.isDisabled()).toBe(true)
  }
  expect(faults).toEqual([])
})
