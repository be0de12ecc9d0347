import { expect, test } from 'bun:test'
import { governedAction, numbered, sendAll } from '../deliveries/governed.ts'
import { openConsole, startConsoleService } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'

test('the page of an action shows live what waits, pauses, resumes, and skips a held key', async () => {
  await using receiver = await startReceiver({ status: 410 })
  const service = await startConsoleService()
  const action = await governedAction(service.alice, receiver.url, {
    order: { by: 'body.key', onDeadLetter: 'hold' },
  })
  const { page, goTo, faults } = await openConsole(service.alice)
  await goTo(`/e/${action.endpoint.id}/actions/${action.id}`)
  const backlog = page.getByRole('region', { name: /^Backlog of/ })
  await backlog.getByText('0 waiting, 0 in flight').waitFor()

  await sendAll(action.endpoint, numbered(3, 1))
  await backlog.getByText('2 waiting, 0 in flight').waitFor()
  await backlog.getByText('k0', { exact: true }).waitFor()
  await backlog.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('paused', { exact: true }).waitFor()
  await backlog.getByRole('button', { name: 'Skip' }).click()
  await backlog.getByText('k0', { exact: true }).waitFor({ state: 'detached' })
  expect(receiver.received).toHaveLength(1)

  receiver.answer = { status: 200 }
  await backlog.getByRole('spinbutton', { name: /until the backlog is empty/ }).fill('50')
  await backlog.getByRole('button', { name: 'Resume' }).click()
  await backlog.getByText('0 waiting, 0 in flight').waitFor()
  await eventually('the other two', () => receiver.received.length === 3)
  expect(faults).toEqual([])
})
