import { expect, test } from 'bun:test'
import { blocksOf } from '../../clients/typescript/src/sse.ts'
import { processorTime } from '../support/processorTime.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

async function blocksIn(pieces: Iterable<Uint8Array>): Promise<unknown[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  return await Array.fromAsync(blocksOf(body))
}

test('reads events whatever pieces they come in, and each heartbeat', async () => {
  const text = ': alive\n\nid: 7\nevent: arrived\ndata: {"a":\ndata: "é"}\n\ndata: x\r\n\r\n'
  const expected = [
    null,
    { event: 'arrived', data: '{"a":\n"é"}', id: '7' },
    { event: 'message', data: 'x', id: null },
  ]
  const whole = bytes(text)
  for (const size of [1, 2, 7, whole.length]) {
    const count = Math.ceil(whole.length / size)
    const pieces = Array.from({ length: count }, (_, at) => whole.subarray(at * size, (at + 1) * size))
    expect(await blocksIn(pieces)).toEqual(expected)
  }
})

test.each(['\n', '\r\n', '\r'])(
  'ends a block at an empty line that %j ends, after a line that any end ends',
  async (end) => {
    for (const before of ['\n', '\r\n', '\r']) {
      // A CR and an LF are one end of a line.
      if (before === '\r' && end === '\n') continue
      const whole = bytes(`data: a${before}${end}data: b${before}${end}`)
      for (const size of [1, 2, 3, whole.length]) {
        const count = Math.ceil(whole.length / size)
        const pieces = Array.from({ length: count }, (_, at) => whole.subarray(at * size, (at + 1) * size))
        expect(await blocksIn(pieces)).toMatchObject([{ data: 'a' }, { data: 'b' }])
      }
    }
  },
)

test('reads a long event in small pieces in time that grows with its length only', async () => {
  const length = 4_000_000
  const piece = bytes('x'.repeat(64))
  const pieces = [bytes('data: '), ...Array.from({ length: length / 64 }, () => piece), bytes('\n\n')]
  const used = processorTime()
  const [event] = await blocksIn(pieces)
  expect(event).toMatchObject({ data: 'x'.repeat(length) })
  // To look through all that has come again for each piece takes minutes.
  expect(used()).toBeLessThan(8_000)
})

test('gives up an event without end', async () => {
  const piece = bytes('x'.repeat(64 * 1024))
  using server = Bun.serve({
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(bytes('data: short\n\ndata: ')),
          pull: (controller) => controller.enqueue(piece),
        }),
      ),
  })
  const { body } = await fetch(server.url)
  if (body === null) throw new Error('The answer has no body.')
  const seen: unknown[] = []
  const read = async () => {
    for await (const event of blocksOf(body, undefined, 1_000_000)) seen.push(event)
  }
  await expect(read()).rejects.toMatchObject({ code: 'unexpected_answer' })
  expect(seen).toMatchObject([{ data: 'short' }])
})
