import { expect, test } from 'bun:test'
import { SendingTurns } from './sendingTurns.ts'

/** What has its turn after every callback that is due has run. */
async function takeAll(turns: SendingTurns, names: readonly string[], actionId = 'a'): Promise<string[]> {
  const sending: string[] = []
  for (const name of names) void turns.take(actionId).then(() => sending.push(name))
  await settled()
  return sending
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('so many send at once, and the others follow in order', async () => {
  const turns = new SendingTurns(2)
  const sending = await takeAll(turns, ['1', '2', '3', '4'])
  expect(sending).toEqual(['1', '2'])
  turns.give('a')
  await settled()
  expect(sending).toEqual(['1', '2', '3'])
  turns.give('a')
  turns.give('a')
  turns.give('a')
  await settled()
  expect(sending).toEqual(['1', '2', '3', '4'])
  expect(await takeAll(turns, ['5', '6', '7'])).toEqual(['5', '6'])
})

test('another destination has turns of its own', async () => {
  const turns = new SendingTurns(1)
  await takeAll(turns, ['1', '2'])
  expect(await takeAll(turns, ['3'], 'b')).toEqual(['3'])
})
