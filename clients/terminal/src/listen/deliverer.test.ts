import { expect, test } from 'bun:test'
import { wholeRequest } from '../../../../tests/support/wholeRequest.ts'
import type { Progress } from './checkpoint.ts'
import { Deliverer } from './deliverer.ts'
import type { LocalAnswer } from './localSender.ts'

const ANSWER: LocalAnswer = {
  method: 'POST',
  url: '',
  at: '',
  durationMs: 1,
  statusCode: 200,
  error: null,
  isRefused: false,
  isUnsendable: false,
  deliveryId: '',
  sent: { headers: [], body: new Uint8Array() },
  received: null,
}

/** A deliverer with a local server that answers when the test says so. */
function started(concurrency: number, start: Progress, signal = new AbortController().signal) {
  const waiting = new Map<number, (answer: LocalAnswer) => void>()
  const progress: Progress[] = []
  const deliverer = new Deliverer({
    sender: { send: ({ id }) => new Promise((resolve) => waiting.set(id, resolve)) },
    concurrency,
    retry: false,
    start,
    onAnswer: () => {},
    onHeld: () => {},
    onProgress: (now) => progress.push(now),
    signal,
  })
  const answer = async (id: number) => {
    waiting.get(id)?.(ANSWER)
    waiting.delete(id)
    // Callbacks of an answer run some microtasks later.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { deliverer, waiting, progress, answer }
}

test('progress stops before what is not answered, and notes what is beyond it', async () => {
  const { deliverer, progress, answer } = started(3, { done: 10, beyond: [] })
  for (const id of [11, 12, 13]) await deliverer.take({ request: wholeRequest({ id: id }) })
  await answer(13)
  expect(progress.at(-1)).toEqual({ done: 10, beyond: [13] })
  await answer(11)
  expect(progress.at(-1)).toEqual({ done: 11, beyond: [13] })
  await answer(12)
  expect(progress.at(-1)).toEqual({ done: 13, beyond: [] })
})

test('a place in the stream that was looked at says nothing of the request that is on its way', async () => {
  const { deliverer, progress, answer } = started(2, { done: 10, beyond: [] })
  for (const id of [11, 12]) await deliverer.take({ request: wholeRequest({ id: id }) })
  deliverer.passOver(12)
  await answer(11)
  expect(progress.at(-1)).toEqual({ done: 11, beyond: [] })
  await answer(12)
  expect(progress.at(-1)).toEqual({ done: 12, beyond: [] })
})

test('what was answered before is passed over, and one at a time waits for its answer', async () => {
  const { deliverer, waiting, progress, answer } = started(1, { done: 10, beyond: [12] })
  for (const id of [9, 10]) await deliverer.take({ request: wholeRequest({ id: id }) })
  await deliverer.take({ request: wholeRequest({ id: 11 }) })
  await deliverer.take({ request: wholeRequest({ id: 12 }) })
  let begun = false
  const next = deliverer.take({ request: wholeRequest({ id: 13 }) }).then(() => {
    begun = true
  })
  expect([...waiting.keys()]).toEqual([11])
  expect(begun).toBe(false)
  await answer(11)
  await next
  await answer(13)
  deliverer.passOver(20)
  expect(progress.at(-1)).toEqual({ done: 20, beyond: [] })
})

test('what still waited for room at a stop was not passed over', async () => {
  const stop = new AbortController()
  const { deliverer, waiting, progress, answer } = started(1, { done: 10, beyond: [] }, stop.signal)
  await deliverer.take({ request: wholeRequest({ id: 11 }) })
  const next = deliverer.take({ request: wholeRequest({ id: 12 }) })
  stop.abort()
  await answer(11)
  await next
  deliverer.passOver(12)
  expect([...waiting.keys()]).toEqual([])
  expect(progress.at(-1)).toEqual({ done: 11, beyond: [] })
})

test('a replay is no progress', async () => {
  const { deliverer, progress, answer } = started(1, { done: 10, beyond: [] })
  await deliverer.take({ request: wholeRequest({ id: 3 }), replayId: 1 })
  await answer(3)
  await deliverer.idle()
  expect(progress).toEqual([])
})
