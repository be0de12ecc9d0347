import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { openConsole, startConsoleService } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'

/** Compressed bodies on the page: decoded wherever a body is shown, compared or edited. */

const gzipped = (text: string | Buffer) => ({
  headers: { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' },
  body: gzipSync(text),
})

test('a compressed body is compared, previewed, edited and recorded decoded', async () => {
  await using receiver = await startReceiver({ status: 200, ...gzipped('{"taken":true}') })
  const service = await startConsoleService()
  const { alice } = service
  const endpoint = await alice.endpoint({ name: 'compressed' })
  await alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url: receiver.url })
  const first = await endpoint.capture(gzipped('{"type":"order.paid","amount":1}'))
  const { id } = await endpoint.capture(gzipped('{"type":"order.paid","amount":2}'))
  await receiver.take(2)
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 1000 })
  const home = `/e/${endpoint.id}`

  await goTo(`${home}?r=${id}&c=${first.id}`)
  const changed = page.getByRole('dialog').locator('[data-change]')
  await changed.getByRole('rowheader', { name: 'body.amount' }).waitFor()
  expect(await page.getByRole('region', { name: 'Body' }).locator('[data-change]').count()).toBe(1)

  await goTo(`${home}/rules/new`)
  await page.getByLabel('Paths').fill('body.amount')
  await page.locator('[data-change="removed"]', { hasText: '"amount": 2' }).waitFor()
  // The bytes go out as captured where no rule changes the body.
  await page.getByLabel('Kind of step 1').selectOption('set')
  await page.getByLabel('Path', { exact: true }).fill('headers.x-mark')
  await page.getByText('Changed headers').or(page.locator('.preview-out.headers')).first().waitFor()
  await page.locator('.preview-out [data-change="same"]', { hasText: '"amount": 2' }).waitFor()

  await goTo(`${home}?r=${id}&tab=deliveries`)
  await page.getByRole('button', { name: /200 Attempt 1/ }).click()
  await page.getByRole('region', { name: 'Sent' }).locator('.line', { hasText: '"order.paid"' }).waitFor()
  await page.getByRole('region', { name: 'Received' }).locator('.line', { hasText: 'taken' }).waitFor()

  await goTo(`${home}?r=${id}&edit=1`)
  const dialog = page.getByRole('dialog', { name: 'Edit and send' })
  await dialog.getByText(`as captured in #${id}`).waitFor()
  await dialog.locator('.cm-content', { hasText: '"amount":2' }).waitFor()
  await dialog.getByRole('button', { name: /^Send/ }).click()
  await dialog.getByText('HTTP 200').waitFor()
  await dialog.locator('.line', { hasText: 'taken' }).waitFor()
  const sent = (await receiver.take(3)).at(-1)
  expect([sent?.body.toString(), sent?.header('content-encoding')]).toEqual([
    '{"type":"order.paid","amount":2}',
    undefined,
  ])
  expect(faults).toEqual([])
})

test('a long compressed body is loaded decoded; what is no text says so', async () => {
  const service = await startConsoleService()
  const endpoint = await service.alice.endpoint({ name: 'long' })
  const long = JSON.stringify({ noise: randomBytes(400_000).toString('hex'), last: 'the end' })
  const { id } = await endpoint.capture(gzipped(long))
  // Short as it came, and longer than the detail of a request shows.
  const repeated = JSON.stringify(
    Array.from({ length: 30 }, () => randomBytes(5_000).toString('hex').repeat(6)),
  )
  expect(gzipSync(repeated).length).toBeLessThan(262_144)
  const { id: decodedLong } = await endpoint.capture(gzipped(repeated))
  const { id: binary } = await endpoint.capture(gzipped(randomBytes(300)))
  const { page, goTo, faults } = await openConsole(service.alice, { width: 1440, height: 1000 })

  await goTo(`/e/${endpoint.id}?r=${id}`)
  await page.getByRole('button', { name: 'Load', exact: true }).click()
  await page.getByText('Arrived as gzip. Shown decoded').waitFor()
  await page.locator('.line', { hasText: 'the end' }).waitFor()

  await goTo(`/e/${endpoint.id}?r=${decodedLong}`)
  await page.getByRole('button', { name: 'Load', exact: true }).click()
  await page.getByText('Arrived as gzip. Shown decoded').waitFor()

  await goTo(`/e/${endpoint.id}?r=${binary}`)
  await page.getByText('Arrived as gzip, and is shown as it came: decoded, its 300 B are no text.').waitFor()
  expect(faults).toEqual([])
})

test('a body is sent with the line breaks that it came with, and lines that are typed have the same', async () => {
  await using receiver = await startReceiver()
  const { alice } = await startConsoleService()
  const endpoint = await alice.endpoint({ name: 'line breaks' })
  const condition = { path: 'body.none', op: 'eq', value: 1 }
  await alice.post(endpoint.at('/actions'), {
    kind: 'forward',
    name: 'Billing',
    url: receiver.url,
    condition,
  })
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 1000 })
  const dialog = page.getByRole('dialog', { name: 'Edit and send' })
  const field = dialog.getByRole('textbox', { name: 'Body to send' })
  let count = 0
  const sent = async () => {
    await dialog.getByRole('button', { name: /^Send/ }).click()
    count += 1
    return (await receiver.take(count)).at(-1)?.body.toString()
  }
  const form = '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--X--\r\n'
  const mixed = 'a\r\nb\rc\nd'
  for (const [contentType, body] of [
    ['multipart/form-data; boundary=X', form],
    ['text/plain', mixed],
  ] as const) {
    const { id } = await endpoint.capture({ headers: { 'Content-Type': contentType }, body })
    await goTo(`/e/${endpoint.id}?r=${id}&edit=1`)
    await field.waitFor()
    // A change by the editor is there before what is typed, which is taken back.
    await field.press('End')
    await field.press('z')
    await dialog.getByText(/^differs in/).waitFor()
    await field.press('Backspace')
    await dialog.getByText(`as captured in #${id}`).waitFor()
    expect(await sent()).toBe(body)
    expect(await dialog.locator('.cm-return').count()).toBe(body === mixed ? 2 : 0)
    await field.press('Control+End')
    await field.press('Enter')
    await field.press('z')
    await dialog.getByText(/^differs in/).waitFor()
    await dialog.getByRole('button', { name: 'Send again' }).waitFor()
    expect(await sent()).toBe(`${body}${body === form ? '\r\n' : '\n'}z`)
  }
  const broken = '{"a":1,\r\n"b":2}'
  const { id } = await endpoint.capture({ body: broken })
  await goTo(`/e/${endpoint.id}?r=${id}&edit=1`)
  await field.waitFor()
  await dialog.getByRole('button', { name: 'Format' }).click()
  await dialog.getByRole('button', { name: 'Format' }).waitFor({ state: 'detached' })
  await field.press('Control+z')
  await dialog.getByRole('button', { name: 'Format' }).waitFor()
  expect(await sent()).toBe(broken)
  expect(faults).toEqual([])
})
