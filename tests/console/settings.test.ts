import { expect, test } from 'bun:test'
import { openConsole, startConsoleService } from '../support/console.ts'

/** Members of an endpoint that are set by a form of its settings. */

test('senders, a scheme of signatures and the original are set, and a refusal is said at its field', async () => {
  const service = await startConsoleService()
  const endpoint = await service.alice.endpoint({ name: 'strict' })
  const { page, goTo, faults } = await openConsole(service.alice)
  const stored = async () => (await service.alice.get(endpoint.at(''))).body
  await goTo(`/e/${endpoint.id}/settings`)
  await page.getByLabel('Refuse captures without a valid signature').check()
  await page.getByLabel('Allowed senders').fill('127.0.0.1\n10.0.0.0/8\nsomewhere')
  await page.getByRole('button', { name: 'Save senders' }).click()
  await page.getByText('"somewhere" is not a network or an address.').waitFor()
  await page.getByLabel('Allowed senders').fill('127.0.0.1\n10.0.0.0/8')
  await page.getByLabel('Header with the signature').fill('X-Sign')
  await page.getByLabel('Algorithm').selectOption('sha512')
  await page.getByLabel('Encoding').selectOption('base64')
  await page.getByLabel('Secret or public key').fill('correct horse')
  await page.getByLabel('Allow replays of many requests').uncheck()
  await page.getByRole('button', { name: 'Save senders' }).click()
  await page.getByText('Saved').first().waitFor()
  expect(await stored()).toMatchObject({
    rejectUnverified: true,
    allowRehearsal: false,
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
  await page.getByLabel('Hours until the original').fill('5')
  await page.getByRole('button', { name: 'Save privacy' }).click()
  await page.getByText('Saved').nth(1).waitFor()
  expect(await stored()).toMatchObject({ forwardOriginal: true, originalHours: 5, dropHeaders: ['Cookie'] })
  expect(faults).toEqual([])
})
