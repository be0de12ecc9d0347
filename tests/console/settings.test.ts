import { expect, test } from 'bun:test'
import { holdCalls, openConsole, startConsoleService } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'

/** Members of an endpoint that are set by a form of its settings. */

test('senders, a scheme of signatures and the original are set, and a refusal is said at its field', async () => {
  const service = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await service.alice.endpoint({ name: 'strict' })
  const { page, goTo, faults } = await openConsole(service.alice)
  const stored = async () => (await service.alice.get(endpoint.at(''))).body
  await goTo(`/e/${endpoint.id}/settings`)
  await page.getByLabel('Refuse captures without a valid signature').check()
  await page.getByLabel('Allowed senders').fill('127.0.0.1\n10.0.0.0/8\nsomewhere')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('"somewhere" is not a network or an address.').waitFor()
  await page.getByLabel('Allowed senders').fill('127.0.0.1\n10.0.0.0/8')
  await page.getByLabel('Header with the signature').fill('X-Sign')
  await page.getByLabel('Algorithm').selectOption('sha512')
  await page.getByLabel('Encoding').selectOption('base64')
  await page.getByLabel('Secret or public key').fill('correct horse')
  await page.getByLabel('Allow replays of many requests').uncheck()
  await page.getByLabel('Allow pages in browsers to send').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  expect(await stored()).toMatchObject({
    rejectUnverified: true,
    allowRehearsal: false,
    allowCors: true,
    allowedSenders: ['127.0.0.1/32', '10.0.0.0/8'],
    verification: {
      source: 'manual',
      secretSet: true,
      manual: { header: 'X-Sign', algorithm: 'sha512', encoding: 'base64' },
    },
  })
  expect(String(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })'))).not.toContain(
    'correct horse',
  )
  expect((await endpoint.send({ body: '{}' })).status).toBe(401)

  await page.getByLabel('Headers that are not stored').fill('Cookie')
  await page.getByLabel('Forward the original').check()
  await page.getByLabel('Hours until the original').fill('5,5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('region', { name: 'Privacy' }).locator('.field-problem').waitFor()
  await page.getByLabel('Hours until the original').fill('5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).nth(1).waitFor()
  expect(await stored()).toMatchObject({ forwardOriginal: true, originalHours: 5, dropHeaders: ['Cookie'] })

  await page.getByLabel('Encrypt captures at rest').check()
  await page.getByRole('button', { name: 'Save' }).click()
  const shred = page.getByRole('button', { name: 'Shred encrypted requests…' })
  await shred.waitFor()
  expect(await stored()).toMatchObject({ encryptBodies: true })
  await shred.click()
  const forGood = page.getByRole('button', { name: 'Shred permanently' })
  expect(await forGood.isDisabled()).toBe(true)
  const name = 'strict'
  await page.getByLabel(`Type ${name}`).fill(name)
  await forGood.click()
  await page.getByText(`The key of ${name} is destroyed`).waitFor()
  expect((await service.alice.get('/api/v1/audit?action=endpoints.shred')).body).toMatchObject({
    totalCount: 1,
  })
  expect(faults).toEqual([])
})

test('one Save takes the changes of all cards: changes elsewhere are kept, or shown before they are overwritten', async () => {
  const service = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await service.alice.endpoint({ name: 'whole' })
  const { page, goTo, faults } = await openConsole(service.alice)
  const stored = async () => (await service.alice.get(endpoint.at(''))).body
  await goTo(`/e/${endpoint.id}/settings`)
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await save.waitFor()
  expect(await save.isDisabled()).toBe(true)
  await page.getByLabel('Endpoint name').fill('whole thing')
  await page.getByLabel('Status').fill('2o4')
  await page.getByLabel('Id of the event').fill('body.id')
  await service.alice.patch(endpoint.at(''), { allowRehearsal: false, responseStatusCode: 201 })
  await save.click()
  await page.getByText('This was changed elsewhere').waitFor()
  await page.getByRole('button', { name: 'Keep my values' }).click()
  await save.click()
  await page.getByRole('region', { name: 'Response' }).locator('.field-problem').waitFor()
  await page.getByLabel('Status').fill('202')
  await save.click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect(await stored()).toMatchObject({
    name: 'whole thing',
    responseStatusCode: 202,
    eventIdPath: 'body.id',
    allowRehearsal: false,
  })
  expect(await save.isDisabled()).toBe(true)
  await page.getByLabel('Endpoint name').fill('dropped')
  await page.getByRole('button', { name: 'Discard changes' }).click()
  expect(await page.getByLabel('Endpoint name').inputValue()).toBe('whole thing')
  expect(faults).toEqual([])
})

test('what is typed during a save stays, and only that is still to be saved', async () => {
  const service = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await service.alice.endpoint({ name: 'quick', provider: 'stripe' })
  const { page, goTo, faults } = await openConsole(service.alice)
  await goTo(`/e/${endpoint.id}/settings`)
  const [name, status, secret] = ['Endpoint name', 'Status', /^Signing secret/].map((label) =>
    page.getByLabel(label).first(),
  )
  await name?.fill('quick one')
  await status?.fill('201')
  await secret?.fill('whsec_one')
  const held = await holdCalls(page, /endpoints\.update/)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await held.called
  await name?.fill('quick two')
  await secret?.fill('whsec_two')
  held.release()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect(await name?.inputValue()).toBe('quick two')
  expect(await secret?.inputValue()).toBe('whsec_two')
  // It outlives a reload, but for the secret.
  await page.reload()
  await page.getByRole('button', { name: 'Discard changes' }).waitFor()
  expect(await name?.inputValue()).toBe('quick two')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect((await service.alice.get(endpoint.at(''))).body).toMatchObject({
    name: 'quick two',
    responseStatusCode: 201,
  })
  await page.reload()
  await page.getByRole('button', { name: 'Discard changes' }).waitFor()
  expect(await page.getByRole('button', { name: 'Discard changes' }).isDisabled()).toBe(true)
  expect(faults).toEqual([])
})

test('capturing stops only after a question', async () => {
  const service = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await service.alice.endpoint({ name: 'asked' })
  const { page, goTo, faults } = await openConsole(service.alice)
  await goTo(`/e/${endpoint.id}/settings`)
  const capturing = page.getByRole('switch', { name: 'The endpoint is switched on' })
  await capturing.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  expect(await capturing.isChecked()).toBe(true)
  expect((await endpoint.send({ body: '{}' })).status).toBe(200)
  await capturing.click()
  await page.getByRole('button', { name: 'Stop capturing' }).click()
  await page.getByText('Off: senders get 404').waitFor()
  expect((await endpoint.send({ body: '{}' })).status).toBe(404)
  await capturing.click()
  await page.getByText('Capturing', { exact: true }).waitFor()
  expect(faults).toEqual([])
})

test('an answer that comes when its form has been left leads nowhere', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'left' })
  const { page, goTo, faults } = await openConsole(alice)
  const home = `/e/${endpoint.id}`
  const saveAndLeave = async (call: RegExp, save: string, said: string) => {
    const held = await holdCalls(page, call)
    await page.getByRole('button', { name: save }).click()
    await held.called
    await page.getByRole('link', { name: 'Captures', exact: true }).click()
    await page.getByText('Waiting for the first webhook').waitFor()
    held.release()
    await page.getByText(said).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/console${home}`)
  }
  await goTo(`${home}/actions/new`)
  await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/')
  await page.getByLabel('Name', { exact: true }).fill('Billing')
  await saveAndLeave(/actions\.create/, 'Save', 'Billing saved.')
  // Its draft is not kept, and no longer what is stored.
  await goTo(`${home}/actions/new`)
  expect(await page.getByLabel('URL', { exact: true }).inputValue()).toBe('')

  await goTo(`${home}/rules/new`)
  await page.getByLabel('Name', { exact: true }).fill('Late')
  await saveAndLeave(/transformations\.create/, 'Save as v1', 'Late saved as v1')
  await page.getByRole('link', { name: 'Rules', exact: true }).click()
  await page.getByRole('button', { name: 'Delete…' }).click()
  await saveAndLeave(/transformations\.remove/, 'Confirm: delete rule', 'Waiting for the first webhook')
  await page.getByRole('link', { name: 'Rules', exact: true }).click()
  await page.getByRole('button', { name: 'Save as v1' }).waitFor()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('New rule')

  await goTo(`${home}/settings`)
  await page.getByRole('button', { name: 'Delete endpoint…' }).click()
  await page.getByLabel('Type left').fill('left')
  const held = await holdCalls(page, /endpoints\.remove/)
  await page.getByRole('button', { name: 'Delete permanently' }).click()
  await held.called
  await page.evaluate("history.pushState(null, '', '/console/usage')")
  await page.getByRole('heading', { name: 'Usage' }).waitFor()
  held.release()
  await page.getByText('left deleted').waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/usage')
  expect(faults).toEqual([])
})

test('after an endpoint is deleted, another one is shown', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const kept = await alice.endpoint({ name: 'kept' })
  const gone = await alice.endpoint({ name: 'gone' })
  await gone.capture()
  const { page, goTo, faults } = await openConsole(alice)
  await goTo(`/e/${gone.id}/settings`)
  await page.getByRole('button', { name: 'Move all 1 request to' }).waitFor()
  await gone.capture()
  await page.getByRole('button', { name: 'Move all 2 requests to' }).waitFor()
  await page.getByRole('button', { name: 'Delete endpoint…' }).click()
  await page.getByLabel('Type gone').fill('gone')
  await page.getByRole('button', { name: 'Delete permanently' }).click()
  await page.getByText('gone deleted').waitFor()
  await page.getByRole('heading', { name: 'kept' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/console/e/${kept.id}`)
  expect(faults).toEqual([])
})

test('a form that was left while it was saved makes one thing, also when it is opened again', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'once' })
  const { page, goTo, faults } = await openConsole(alice)
  await goTo(`/e/${endpoint.id}/actions/new`)
  await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/')
  await page.getByLabel('Name', { exact: true }).fill('Billing')
  const held = await holdCalls(page, /actions\.create/)
  await page.getByRole('button', { name: 'Save' }).click()
  await held.called
  await page.getByRole('link', { name: 'Captures', exact: true }).click()
  await page.getByText('Waiting for the first webhook').waitFor()
  await page.goBack()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Billing')
  expect(await page.getByRole('button', { name: 'Saving…' }).isDisabled()).toBe(true)
  held.release()
  await page.getByText('Billing saved.').waitFor()
  await page.waitForURL('**/actions')
  const { body } = await alice.get(endpoint.at('/actions'))
  expect(Object(body).actions).toHaveLength(1)

  // Opened again after its save, it is another one, while the list is still being read.
  await page.getByRole('link', { name: 'Add action' }).click()
  await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/')
  await page.getByLabel('Name', { exact: true }).fill('Second')
  const listing = await holdCalls(page, /actions\.list/)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Second saved.').waitFor()
  await listing.called
  await page.getByRole('link', { name: 'Add action' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).waitFor()
  listing.release()
  await page.getByRole('link', { name: 'Second', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).waitFor()

  // A form without changes shows what another has saved since.
  await page.getByRole('link', { name: 'Billing', exact: true }).click()
  await page.getByLabel('Name', { exact: true }).waitFor()
  await alice.put(endpoint.at(`/actions/${Object(body).actions[0].id}`), { name: 'Renamed' })
  await page.getByRole('switch', { name: 'Billing is switched on' }).click()
  await page.getByRole('link', { name: 'Renamed', exact: true }).waitFor()
  const name = page.getByLabel('Name', { exact: true })
  await eventually('the new name in the form', async () => (await name.inputValue()) === 'Renamed')

  await goTo(`/e/${endpoint.id}/settings`)
  const provider = page.getByRole('combobox', { name: 'Provider' })
  await provider.fill('stripe')
  await page
    .getByRole('option', { name: /^Stripe/ })
    .first()
    .waitFor()
  await provider.press('Tab')
  expect(await provider.inputValue()).toBe('Stripe')
  expect(faults).toEqual([])
})

test('what is typed while something is made is kept for the next one', async () => {
  const { alice, operator } = await startConsoleService({ parts: ['gateway'] })
  const { url } = await operator.sessions.link({ workspace: alice.workspaceId })
  const { page, goTo, faults } = await openConsole(alice, {}, url.slice(url.indexOf('#') + 1))
  await goTo('/access')
  const mail = page.getByLabel('E-mail')
  await mail.fill('ada@example.com')
  const adding = await holdCalls(page, /contacts\.add/)
  await page.getByRole('button', { name: 'Add contact' }).click()
  await adding.called
  await mail.fill('grace@example.com')
  adding.release()
  await page.getByText('ada@example.com').waitFor()
  await page.getByRole('button', { name: 'Add contact' }).click()
  await page.getByText('grace@example.com').waitFor()

  const name = page.getByRole('dialog').getByLabel('Name')
  for (const [open, make, call, leave] of [
    [
      'New key',
      'Create key',
      /keys\.create/,
      () => page.getByRole('button', { name: 'I have saved it' }).click(),
    ],
    ['New endpoint', 'Create endpoint', /endpoints\.create/, () => page.waitForURL('**/e/*')],
  ] as const) {
    await page.getByRole('button', { name: open }).click()
    await name.fill('first')
    const held = await holdCalls(page, call)
    await page.getByRole('button', { name: make }).click()
    await held.called
    await name.fill('second')
    held.release()
    await leave()
    await page.getByRole('button', { name: open }).click()
    expect(await name.inputValue()).toBe('second')
    await page.keyboard.press('Escape')
  }
  expect(faults).toEqual([])
})

test('what is shown once is shown, whatever is pressed meanwhile and whatever fails after it', async () => {
  const { alice, operator } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'shared' })
  const { id } = await endpoint.capture({ body: '{}' })
  const { url } = await operator.sessions.link({ workspace: alice.workspaceId })
  const { page, goTo, faults } = await openConsole(alice, {}, url.slice(url.indexOf('#') + 1))
  await goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Share…' }).click()
  await page.getByText('The link shows this request').waitFor()
  await page.route(/shareLinks\.list/, (route) => route.abort())
  await page.getByRole('button', { name: 'Make a link' }).click()
  await page.getByText('Copy it now: it is shown only once.').waitFor()

  await goTo('/access')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('once')
  const held = await holdCalls(page, /keys\.create/)
  await page.getByRole('button', { name: 'Create key' }).click()
  await held.called
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  held.release()
  await page.getByText('The key is shown only once.').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(faults).toEqual([])
})

test('a double click makes one thing', async () => {
  const { alice, operator } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'pressed twice' })
  const { id } = await endpoint.capture({ body: '{}' })
  const { url } = await operator.sessions.link({ workspace: alice.workspaceId })
  const { page, goTo, faults } = await openConsole(alice, {}, url.slice(url.indexOf('#') + 1))
  const made: string[] = []
  page.on('request', (request) => made.push(...(request.url().match(/(keys|shareLinks)\.create/g) ?? [])))
  await goTo('/access')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('pressed twice')
  await page.getByRole('button', { name: 'Create key' }).dblclick()
  await page.getByText('The key is shown only once.').waitFor()
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('rowheader', { name: 'pressed twice' }).first().waitFor()
  expect(made).toEqual(['keys.create'])

  await goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Share…' }).click()
  await page.getByRole('button', { name: 'Make a link' }).dblclick()
  await page.getByText('Copy it now: it is shown only once.').waitFor()
  await page.getByRole('list', { name: 'Links of this request' }).waitFor()
  expect(made).toEqual(['keys.create', 'shareLinks.create'])
  expect(faults).toEqual([])
})

test('what was saved is said to be saved, also where it cannot be read after that', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'before' })
  const { page, goTo } = await openConsole(alice)
  await goTo(`/e/${endpoint.id}/settings`)
  await page.getByLabel('Endpoint name').fill('after')
  let isSaved = false
  await page.route(/endpoints\.update/, async (route) => {
    const response = await route.fetch()
    isSaved = true
    await route.fulfill({ response })
  })
  await page.route(/endpoints\.get/, (route) => (isSaved ? route.abort() : route.continue()))
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const form = page.getByRole('form', { name: 'Settings' })
  const alert = form.getByRole('alert')
  await page.getByText('Saved', { exact: true }).or(alert).first().waitFor()
  expect(await alert.count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
})

test('a key that is made after its form was left is named in a note', async () => {
  const { alice, operator } = await startConsoleService({ parts: ['gateway'] })
  const { url } = await operator.sessions.link({ workspace: alice.workspaceId })
  const { page, goTo, faults } = await openConsole(alice, {}, url.slice(url.indexOf('#') + 1))
  await goTo('/usage')
  await page.getByRole('link', { name: 'Access' }).click()
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('unseen')
  const held = await holdCalls(page, /keys\.create/)
  await page.getByRole('button', { name: 'Create key' }).click()
  await held.called
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  held.release()
  await page
    .getByText(/^The new key creel_live_.+… \(unseen\) was not shown\. Rotate or revoke it\./)
    .waitFor()
  expect(faults).toEqual([])
})

test('a body of an answer keeps its line breaks while it is changed', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'breaks', responseBody: 'a\r\nb\r\nc' })
  const { page, goTo, faults } = await openConsole(alice)
  await goTo(`/e/${endpoint.id}/settings`)
  const body = page.getByRole('region', { name: 'Response' }).getByLabel('Body', { exact: true })
  await body.press('Control+End')
  await body.pressSequentially('d')
  await body.press('Enter')
  await body.pressSequentially('e')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  expect((await alice.get(endpoint.at(''))).body).toMatchObject({ responseBody: 'a\r\nb\r\ncd\r\ne' })
  expect(faults).toEqual([])
})

test('where the answer is lost, the page says that the thing may have been made', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const { page, goTo } = await openConsole(alice)
  await goTo('/usage')
  await page.getByRole('button', { name: 'New endpoint' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('perhaps')
  await page.route(/endpoints\.create/, async (route) => {
    await route.fetch()
    await route.abort()
  })
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await page.getByText('It may have been done all the same: look before you try again.').waitFor()
  await page.getByRole('link', { name: /^perhaps/ }).waitFor()
})
