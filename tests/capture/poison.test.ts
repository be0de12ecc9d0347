import { afterAll, expect, spyOn, test } from 'bun:test'
import { ConditionSet } from '@creel/core/engine/conditions'
import { pino } from 'pino'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

/** A capture that our own code cannot evaluate. The error is injected, because none is known. */

const POISON = 'this one cannot be evaluated'
const evaluate = ConditionSet.prototype.holding
const injected = spyOn(ConditionSet.prototype, 'holding').mockImplementation(function (
  this: ConditionSet<unknown>,
  root,
) {
  if (root.bodyText()?.includes(POISON)) throw new Error('injected')
  return evaluate.call(this, root)
})

afterAll(() => {
  injected.mockRestore()
})

test('is stored as it came, sets nothing in motion, and harms no other', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) })
  const { alice } = await startService({ log })
  await using receiver = await startReceiver()
  const endpoint = await alice.endpoint()
  await alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })

  const bodies = ['"before"', `"${POISON}"`, '"after"']
  const answers = await Promise.all(bodies.map((body) => endpoint.send({ body })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])

  const rows = await endpoint.requests()
  const poison = rows.find(({ bodyPreview }) => bodyPreview === `"${POISON}"`)
  const [line = ''] = lines
  const { failureId, endpointId } = JSON.parse(line)
  expect(lines).toHaveLength(1)
  expect(endpointId).toBe(endpoint.id)
  const note = `The service could not evaluate this capture (failure ${failureId}): it was stored unchanged, and nothing was dispatched.`
  expect(poison).toMatchObject({ state: 'NotAttempted', verification: { verdict: 'unverifiable', note } })
  const received = await receiver.take(2)
  expect(received.map(({ body }) => body.toString()).sort()).toEqual(['"after"', '"before"'])
})
