import { expect, test } from 'bun:test'
import { z } from 'zod'
import { openConsole, startConsoleService } from '../support/console.ts'

const WithId = z.looseObject({ id: z.string() })

test('a condition from a line of a body, and a rule that is renamed, keep all digits of a number', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'digits' })
  await endpoint.capture({ body: '{"id":9007199254740992}' })
  const { id } = await endpoint.capture({ body: '{"id":9007199254740993}' })
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 1200 })
  const stored = async (path: string) => (await alice.get(endpoint.at(path))).text

  await goTo(`/e/${endpoint.id}?r=${id}`)
  await page.locator('.line', { hasText: '9007199254740993' }).click()
  await page.getByRole('button', { name: 'Use path in' }).click()
  await page.getByRole('menuitem', { name: 'Action condition' }).click()
  // The condition is tried on both captures.
  const tried = page.locator('.condition-test', { hasText: '1 match, 1 do not match' })
  await tried.waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Exact')
  await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved').first().waitFor()
  expect(await stored('/actions')).toContain('"value":9007199254740993}')

  // A saved condition is shown as it is.
  const { actions } = z
    .object({ actions: z.tuple([WithId]) })
    .parse((await alice.get(endpoint.at('/actions'))).body)
  await goTo(`/e/${endpoint.id}/actions/${actions[0].id}`)
  await tried.waitFor()
  expect(await page.getByRole('textbox', { name: 'Value' }).inputValue()).toBe('9007199254740993')

  const steps =
    '"when":{"path":"body.id","op":"eq","value":9007199254740993},"steps":[{"op":"set","path":"body.a","value":1732867200.123456789},{"op":"set","path":"body.b","value":1.50}]'
  const rules = endpoint.at(`/transformations?actionId=${actions[0].id}`)
  const { id: ruleId } = await alice.expect(
    alice.post(rules, undefined, {
      rawBody: `{"version":1,"name":"Old",${steps}}`,
      headers: { 'Content-Type': 'application/json' },
    }),
    WithId,
  )
  await goTo(`/e/${endpoint.id}/rules/${ruleId}`)
  await page.getByLabel('Name', { exact: true }).fill('New')
  await page.getByText('1 of 1 rules applied').waitFor()
  await page.getByRole('button', { name: /Save as v2/ }).click()
  await page.getByText('New saved as v2').waitFor()
  expect(await stored(`/transformations?actionId=${actions[0].id}`)).toContain(
    `{"version":1,"name":"New",${steps}}`,
  )
  expect(faults).toEqual([])
})
