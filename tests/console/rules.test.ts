import { expect, test } from 'bun:test'
import { z } from 'zod'
import { holdCalls, openConsole, startConsoleService } from '../support/console.ts'

/** A rule by a form: steps as rows, the saved rules before it in the preview, and the way out. */

const WithId = z.looseObject({ id: z.string() })

/** Whether a call reads the rules of an action. */
const isRead = ({ pathname }: URL) => pathname.includes('transformations.getSet')

test('a rule is written by a form, previewed after the saved ones, and its refusals stand at their steps', async () => {
  const service = await startConsoleService({ parts: ['gateway'] })
  const { alice } = service
  const endpoint = await alice.endpoint({ name: 'formed' })
  await endpoint.capture({ body: '{"type":"order.paid","secret":"hush","amount":12,"name":"Ada"}' })
  const action = await alice.expect(
    alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url: 'http://127.0.0.1:9/' }),
    WithId,
  )
  const saved = { version: 1, name: 'First', steps: [{ op: 'remove', paths: ['body.secret'] }] }
  await alice.expect(alice.post(endpoint.at(`/transformations?actionId=${action.id}`), saved), WithId)
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 1200 })
  const steps = page.getByRole('list', { name: 'Steps of the rule, in the order they run' })
  const step = (at: number) => steps.locator('.step').nth(at - 1)
  const stored = async () =>
    Object((await alice.get(endpoint.at(`/transformations?actionId=${action.id}`))).body).rules

  // Cancel leaves a new rule, and keeps nothing of it.
  await goTo(`/e/${endpoint.id}/rules/new`)
  await page.getByLabel('Name', { exact: true }).fill('Never saved')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Add rule' }).click()
  await page.getByRole('button', { name: 'Cancel' }).waitFor()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('New rule')

  await page.getByLabel('Name', { exact: true }).fill('Second')
  await step(1).getByLabel('Paths').fill('body.amount')
  // The saved rule ran before it.
  await page.getByText('2 of 2 rules applied').waitFor()
  await page.locator('[data-change="removed"]', { hasText: 'hush' }).waitFor()
  await page.locator('[data-change="removed"]', { hasText: '12' }).waitFor()
  await page.getByRole('button', { name: 'Add step' }).click()
  await step(2).getByLabel('Kind of step 2').selectOption('set')
  await step(2).getByLabel('Path', { exact: true }).fill('body.total')
  await step(2).getByLabel('Value').fill('1.05')
  await page.getByRole('button', { name: 'Add step' }).click()
  await step(3).getByLabel('Kind of step 3').selectOption('rename')
  await step(3).getByLabel('From').fill('body.name')
  // A condition as text is refused where it is typed, while it is no JSON and while it is no condition.
  const when = page.getByRole('region', { name: 'When' })
  await when.getByText('{…} JSON').click()
  const typed = when.getByRole('textbox', { name: 'When' })
  await typed.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"path":"body.amount"')
  await when.getByText('This is not a JSON object yet.').waitFor()
  await page.getByRole('button', { name: /Save as v1/ }).click()
  await when.getByRole('alert').waitFor()
  await step(3).getByRole('alert').waitFor()
  // An error at its step is not repeated below, and has a colour of its own.
  expect(await page.locator('.problem').count()).toBe(0)
  const inkOf = (selector: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).color`)
  expect(await inkOf('.step .field-problem')).not.toBe(await inkOf('.step'))
  expect(await stored()).toHaveLength(1)
  await typed.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(',"op":"exists","value":true}')
  await step(3).getByLabel('To').fill('body.customer')
  await step(3).getByRole('button', { name: 'Move step 3 up' }).click()
  await page.getByRole('button', { name: /Save as v1/ }).click()
  await page.getByText('Second saved as v1').waitFor()
  expect(Object((await stored())[1]).rule).toEqual({
    version: 1,
    name: 'Second',
    when: { path: 'body.amount', op: 'exists', value: true },
    steps: [
      { op: 'remove', paths: ['body.amount'] },
      { op: 'rename', from: 'body.name', to: 'body.customer' },
      { op: 'set', path: 'body.total', value: 1.05 },
    ],
  })

  // The same document as JSON; what the form cannot show stays there.
  await step(2).getByRole('button', { name: 'Remove step 2' }).click()
  await page.getByRole('radiogroup', { name: 'Edit the rule as' }).getByText('JSON').click()
  const editor = page.getByRole('textbox', { name: 'Rule' })
  expect(await editor.textContent()).not.toContain('rename')
  await editor.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"version":1,"name":"Odd","steps":[{"op":"unknown"}]}')
  expect(await page.getByRole('radio', { name: 'Form' }).isDisabled()).toBe(true)
  // A name that every object inherits is no kind of step, and no place of an endpoint.
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{"version":1,"name":"Odd","steps":[{"op":"constructor"}]}')
  expect(await page.getByRole('radio', { name: 'Form' }).isDisabled()).toBe(true)
  await goTo(`/e/${endpoint.id}/constructor`)
  await page.getByRole('region', { name: 'Captures' }).waitFor()
  expect(faults).toEqual([])
})

test('what is typed while a rule is saved stays, on top of what was saved', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'typed on' })
  await alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url: 'http://127.0.0.1:9/' })
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 1200 })
  const name = page.getByLabel('Name', { exact: true })
  const saveAndType = async (version: number, saved: string, typed: string) => {
    await name.fill(saved)
    const held = await holdCalls(page, /transformations\.(create|update)/)
    await page.getByRole('button', { name: `Save as v${version}` }).click()
    await held.called
    await name.fill(typed)
    held.release()
    await page.getByText(`${saved} saved as v${version}`).waitFor()
    await page.getByRole('button', { name: `Save as v${version + 1}` }).waitFor()
    expect(await name.inputValue()).toBe(typed)
  }
  await goTo(`/e/${endpoint.id}/rules/new`)
  await saveAndType(1, 'First', 'Second')
  await saveAndType(2, 'Second', 'Third')
  await page.reload()
  await page.getByRole('button', { name: 'Save as v3' }).waitFor()
  expect(await name.inputValue()).toBe('Third')
  await page.getByRole('button', { name: 'Save as v3' }).click()
  await page.getByText('Third saved as v3').waitFor()

  // Also what is typed while the saved rule is read.
  await goTo(`/e/${endpoint.id}/rules/new`)
  await name.fill('Fourth')
  const [called, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let reads = 0
  await page.route(isRead, async (route) => {
    reads += 1
    if (reads === 2) called.resolve()
    if (reads >= 2) await released.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Save as v1' }).click()
  await called.promise
  await name.fill('Fifth')
  released.resolve()
  await page.getByText('Fourth saved as v1').waitFor()
  await page.getByRole('button', { name: 'Save as v2' }).waitFor()
  expect(await name.inputValue()).toBe('Fifth')
  expect(faults).toEqual([])
})

test('a rule is made once, also where it cannot be read after that', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'made once' })
  const action = await alice.expect(
    alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url: 'http://127.0.0.1:9/' }),
    WithId,
  )
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 1200 })
  await goTo(`/e/${endpoint.id}/rules/new`)
  await page.getByLabel('Name', { exact: true }).fill('Once')
  await page.route(isRead, (route) => route.abort(), { times: 1 })
  await page.getByRole('button', { name: 'Save as v1' }).click()
  await page.getByText('Once saved as v1').waitFor()
  await page.getByRole('button', { name: 'Save as v2' }).waitFor()
  const stored = await alice.get(endpoint.at(`/transformations?actionId=${action.id}`))
  expect(Object(stored.body).rules).toHaveLength(1)
  expect(faults).toEqual([])
})

test('the new rules of two actions are two drafts', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'two drafts' })
  for (const name of ['Billing', 'Shipping'])
    await alice.post(endpoint.at('/actions'), { kind: 'forward', name, url: 'http://127.0.0.1:9/' })
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 1200 })
  const name = page.getByLabel('Name', { exact: true })
  const choose = (action: string) => page.getByLabel('Rules of').selectOption({ label: action })
  await goTo(`/e/${endpoint.id}/rules`)
  await name.waitFor()
  await choose('Shipping')
  await name.fill('Of shipping')
  // Read before, so the form is shown at once.
  await choose('Billing')
  await page.waitForURL('**action=*')
  expect(await name.inputValue()).toBe('New rule')
  await choose('Shipping')
  await name.and(page.locator('[value="Of shipping"]')).waitFor()
  expect(faults).toEqual([])
})

test('a rule is shown as its draft is, deleted by two presses, and missed when it was deleted elsewhere', async () => {
  const { alice } = await startConsoleService({ parts: ['gateway'] })
  const endpoint = await alice.endpoint({ name: 'shown' })
  const action = await alice.expect(
    alice.post(endpoint.at('/actions'), { kind: 'forward', name: 'Billing', url: 'http://127.0.0.1:9/' }),
    WithId,
  )
  const make = (name: string) =>
    alice.expect(
      alice.post(endpoint.at(`/transformations?actionId=${action.id}`), {
        version: 1,
        name,
        when: { path: 'body.amount', op: 'eq', value: 1 },
        steps: [{ op: 'remove', paths: ['body.secret'] }],
      }),
      WithId,
    )
  const [, second] = [await make('First'), await make('Second')]
  const { page, goTo, faults } = await openConsole(alice, { width: 1440, height: 1200 })
  await goTo(`/e/${endpoint.id}/rules/${second.id}`)
  const value = page.getByRole('region', { name: 'When' }).getByLabel('Value')
  await value.fill('2')
  await page.getByRole('button', { name: 'Reset to v1' }).click()
  expect(await value.inputValue()).toBe('1')

  const [remove, confirm] = [/^Delete…/, /^Confirm/].map((name) => page.getByRole('button', { name }))
  await remove?.dblclick()
  await confirm?.waitFor()
  await page.getByLabel('Name', { exact: true }).focus()
  await remove?.waitFor()

  await page.getByLabel('Name', { exact: true }).fill('Typed')
  await alice.delete(endpoint.at(`/transformations/${second.id}?actionId=${action.id}`))
  await page.getByRole('switch', { name: 'First is switched on' }).click()
  await page.getByText('The rule that was open is no longer there.').waitFor()
  const typed = page.getByRole('region', { name: 'What was typed and not saved' })
  await typed.getByText('"name": "Typed"').waitFor()
  await typed.getByRole('button', { name: 'Discard' }).click()
  await typed.waitFor({ state: 'detached' })
  expect(await page.evaluate('Object.keys(sessionStorage).join()')).not.toContain(second.id)
  expect(faults).toEqual([])
})
