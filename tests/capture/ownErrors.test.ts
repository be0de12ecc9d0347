import { afterEach, expect, spyOn, test } from 'bun:test'
import { MessageBuffer } from '@creel/core/platform/db'
import { pino } from 'pino'
import { z } from 'zod'
import { servicePerTest } from '../support/service.ts'

/** Errors of our own code while a capture is stored. They are injected, because none is known. */

const POISON = 'this one cannot be written'
const startService = servicePerTest()
let injected: { mockRestore(): void } | undefined
afterEach(() => injected?.mockRestore())

async function startLogged() {
  const lines: { readonly msg: string; readonly err: { readonly stack: string } }[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const { alice, clock } = await startService({ log, parts: ['gateway'] })
  const endpoint = await alice.endpoint()
  expect((await endpoint.send({ body: '"first"' })).status).toBe(200)
  return { lines, log, clock, endpoint }
}

test('a capture that cannot be encoded is refused alone, and the connection is kept', async () => {
  const { lines, endpoint } = await startLogged()
  const write = MessageBuffer.prototype.value
  injected = spyOn(MessageBuffer.prototype, 'value').mockImplementation(function (
    this: MessageBuffer,
    type,
    value,
  ) {
    if (Buffer.isBuffer(value) && value.includes(POISON)) throw new RangeError('injected')
    return write.call(this, type, value)
  })

  const bodies = ['"before"', `"${POISON}"`, '"after"', '"last"']
  const answers = await Promise.all(bodies.map((body) => endpoint.send({ body })))
  expect(answers.map(({ status }) => status)).toEqual([200, 503, 200, 200])
  // After an outage of PostgreSQL senders are refused for a moment. There was none.
  expect((await endpoint.send({ body: '"at once"' })).status).toBe(200)

  expect(lines.map(({ msg }) => msg)).toEqual(['a capture cannot be stored'])
  expect(lines[0]?.err.stack).toContain('injected')
})

test('an error before a capture is stored gets its sender a 503, and the log its stack, once', async () => {
  const { lines, clock, endpoint } = await startLogged()
  injected = spyOn(clock, 'now').mockImplementationOnce(() => {
    throw new TypeError('injected')
  })

  expect((await endpoint.send({ body: '"poison"' })).status).toBe(503)
  expect((await endpoint.send({ body: '"neighbour"' })).status).toBe(200)
  expect(lines).toHaveLength(1)
  expect(lines[0]?.err.stack).toContain('injected')
})

test('an error while cached settings are found gets its sender a 503, and the log its stack, once', async () => {
  const { lines, clock, endpoint } = await startLogged()
  await endpoint.client.expect(endpoint.client.post(endpoint.at('/rotate-url'), {}), z.looseObject({}))
  const toPrevious = (body: string) => endpoint.send({ body })
  expect((await toPrevious('"caches the settings of the previous URL"')).status).toBe(200)
  // The previous URL ends at a time, so the clock is asked before anything else.
  injected = spyOn(clock, 'now').mockImplementationOnce(() => {
    throw new TypeError('injected')
  })

  expect((await toPrevious('"poison"')).status).toBe(503)
  expect((await toPrevious('"neighbour"')).status).toBe(200)
  expect(lines).toHaveLength(1)
  expect(lines[0]?.err.stack).toContain('injected')
})

test('errors after an answer, and while they are concluded, are logged and end nothing', async () => {
  const { lines, log, endpoint } = await startLogged()
  let errors = 0
  injected = spyOn(log, 'isLevelEnabled').mockImplementation(() => {
    errors += 1
    throw new TypeError('injected')
  })

  expect((await endpoint.send({ body: '"first"' })).status).toBe(200)
  expect((await endpoint.send({ body: '"neighbour"' })).status).toBe(200)
  expect(errors).toBe(2)
  expect(lines.map(({ err }) => err.stack.includes('injected'))).toEqual([true, true])
})
