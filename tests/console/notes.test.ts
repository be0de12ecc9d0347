import { expect, test } from 'bun:test'
import { z } from 'zod'
import { Client } from '../support/client.ts'
import { holdCalls, openConsole, startConsoleService } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'

test('a note is written in the head of a request, shown in its row, changed and removed', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'notes' })
  const { id } = await endpoint.capture({ body: '{"type":"order.paid"}' })
  const noted = async () =>
    z
      .looseObject({ note: z.string().nullable() })
      .parse((await alice.get(endpoint.at(`/requests/${id}`))).body).note
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 900 })
  await goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('button', { name: 'Add a note' }).click()
  const field = page.getByLabel('Note', { exact: true })
  await field.fill('x'.repeat(2_001))
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('2000 characters').waitFor()
  await field.fill('Paid twice:\nrefunded')
  // The draft survives a reload.
  await page.reload()
  await page.getByRole('button', { name: 'Add a note' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const note = page.getByRole('region', { name: 'Note' })
  await note.getByText('refunded').waitFor()
  expect(await noted()).toBe('Paid twice:\nrefunded')
  await page.locator('.row .row-note', { hasText: 'Paid twice' }).waitFor()

  await note.getByRole('button', { name: 'Edit the note' }).click()
  expect(await field.inputValue()).toBe('Paid twice:\nrefunded')
  await alice.patch(endpoint.at(`/requests/${id}`), { note: 'of a colleague' })
  await field.fill('mine')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('of a colleague').waitFor()
  expect(await noted()).toBe('of a colleague')
  await page.getByRole('button', { name: 'Keep my values' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await note.getByText('mine').waitFor()
  expect(await noted()).toBe('mine')

  // Text that is typed while it is saved stays in the form.
  await note.getByRole('button', { name: 'Edit the note' }).click()
  await field.fill('first')
  const held = await holdCalls(page, /requests\.update/)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await held.called
  await field.fill('second')
  held.release()
  await page.locator('.row .row-note', { hasText: 'first' }).waitFor()
  expect(await field.inputValue()).toBe('second')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await note.getByText('second').waitFor()
  expect(await noted()).toBe('second')

  await note.getByRole('button', { name: 'Edit the note' }).click()
  await field.fill('')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.locator('.row .row-note').waitFor({ state: 'detached' })
  await eventually('the note is gone', async () => (await noted()) === null)
  expect(faults).toEqual([])
})

test('what is typed after Add a note goes into it, and Escape leaves only its form', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'typed' })
  const { id } = await endpoint.capture()
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 900 })
  await goTo(`/e/${endpoint.id}?r=${id}`)
  const add = page.getByRole('button', { name: 'Add a note' })
  await add.click()
  const field = page.getByLabel('Note', { exact: true })
  await field.waitFor()
  await page.keyboard.type('4 rex')
  await page.keyboard.press('Backspace')
  expect(await field.inputValue()).toBe('4 re')
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
  const focused = page.locator(':focus')
  expect(await focused.getAttribute('aria-label')).toBe('Add a note')
  expect(new URL(page.url()).searchParams.get('r')).toBe(String(id))

  await page.keyboard.press('Enter')
  await field.waitFor()
  await page.keyboard.type('first')
  const held = await holdCalls(page, /requests\.update/)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await held.called
  await page.keyboard.type(' 4')
  held.release()
  await page.locator('.row .row-note', { hasText: 'first' }).waitFor()
  expect(await field.inputValue()).toBe('first 4')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('region', { name: 'Note' }).getByText('first 4').waitFor()
  await page.locator('[aria-label="Edit the note"]:focus').waitFor()
  expect(new URL(page.url()).searchParams.has('tab')).toBe(false)
  expect(await endpoint.requests()).toHaveLength(1)
  expect(faults).toEqual([])
})

test('a key that can only read sees the note, and cannot change it', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'read' })
  const [plain, noted] = await endpoint.captureMany(2)
  await alice.patch(endpoint.at(`/requests/${noted?.id}`), { note: 'look at this' })
  const { key } = await alice.expect(
    alice.post('/api/v1/keys', { name: 'reader', scope: 'read' }),
    z.looseObject({ key: z.string() }),
  )
  const { baseUrl, captureUrl, workspaceId } = alice
  const { page, goTo } = await openConsole(new Client(baseUrl, captureUrl, key, workspaceId))
  await goTo(`/e/${endpoint.id}?r=${noted?.id}`)
  await page.getByRole('region', { name: 'Note' }).getByText('look at this').waitFor()
  expect(await page.getByRole('button', { name: 'Edit the note' }).isDisabled()).toBe(true)
  await goTo(`/e/${endpoint.id}?r=${plain?.id}`)
  expect(await page.getByRole('button', { name: 'Add a note' }).isDisabled()).toBe(true)
})
