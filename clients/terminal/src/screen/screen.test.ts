import { describe, expect, test } from 'bun:test'
import type { WholeRequest } from 'creel-client'
import { curlCommand } from '../../../../creel/src/lent/curl.ts'
import { wholeRequest } from '../../../../tests/support/wholeRequest.ts'
import { messageText, readMessage } from './actions.ts'
import { render } from './render.ts'
import { press } from './screenView.ts'
import { chosenItem, EMPTY_SCREEN, listed, type ScreenState, withItem } from './state.ts'

const request = (id: number, members: Partial<WholeRequest> = {}): WholeRequest =>
  wholeRequest({
    id,
    path: `/path/${id}`,
    contentType: 'text/plain',
    sizeBytes: 3,
    state: 'NotAttempted',
    url: `http://127.0.0.1/hook/x/path/${id}`,
    rawHeaders: [{ name: 'X-Number', value: String(id) }],
    body: `b ${id}`,
    ...members,
  })

const screenOf = (...ids: number[]): ScreenState =>
  ids.reduce((state, id) => withItem(state, { request: request(id), answer: null }), EMPTY_SCREEN)

/** The screen's state after keys, each a name or a character. */
const after = (state: ScreenState, ...keys: string[]): ScreenState =>
  keys.reduce((now, key) => press(now, key.length === 1 ? { sequence: key } : { name: key }).state, state)

describe('the cursor', () => {
  test('follows the newest until it is moved, and stays with its capture then', () => {
    const state = screenOf(1, 2, 3)
    expect(chosenItem(state)?.request.id).toBe(3)
    const up = after(state, 'up')
    expect(chosenItem(withItem(up, { request: request(4), answer: null }))?.request.id).toBe(2)
    expect(chosenItem(after(up, 'down', 'down'))?.request.id).toBe(3)
    const back = withItem(after(up, 'G'), { request: request(4), answer: null })
    expect(chosenItem(back)?.request.id).toBe(4)
  })

  test('has only what the filter lets through', () => {
    const filtered = after(screenOf(1, 2, 3), '/', 'B', ' ', '2', 'return')
    expect(listed(filtered).map((item) => item.request.id)).toEqual([2])
    expect(listed(after(filtered, '/', 'escape'))).toHaveLength(3)
  })
})

test('the oldest captures go when their bodies are many megabytes together, the newest never', () => {
  const [long, short] = ['x'.repeat(30e6), 'x']
  const kept = (...bodies: string[]) =>
    bodies
      .reduce(
        (state, body, at) => withItem(state, { request: request(at, { body }), answer: null }),
        EMPTY_SCREEN,
      )
      .items.map((item) => item.request.id)
  expect(kept(long, long, short)).toEqual([0, 1, 2])
  expect(kept(long, long, long, short)).toEqual([1, 2, 3])
  expect(kept(short, long + long + long)).toEqual([1])
})

describe('keys', () => {
  test('ask for what is to be done with the chosen capture, and say so where there is none', () => {
    expect(press(screenOf(1), { sequence: 'r' }).request).toBe('replay')
    expect(press(EMPTY_SCREEN, { sequence: 'r' })).toMatchObject({
      state: { message: 'No capture is selected.' },
    })
    expect(press(EMPTY_SCREEN, { name: 'c', ctrl: true }).request).toBe('quit')
  })

  test('are text while a filter is typed', () => {
    expect(press(after(screenOf(1), '/'), { sequence: 'q' })).toMatchObject({ state: { filter: 'q' } })
  })
})

test.each([
  [20, 6],
  [40, 10],
  [200, 50],
])('nothing is wider or higher than a screen of %d by %d', (columns, rows) => {
  const long = {
    request: request(1, { path: `/${'long/'.repeat(60)}`, body: 'x'.repeat(500) }),
    answer: null,
  }
  for (const keys of [[], ['return'], ['?'], ['/', 'a']]) {
    const lines = render(after(withItem(EMPTY_SCREEN, long), ...keys), { columns, rows })
    expect(lines.length).toBeLessThanOrEqual(rows)
    expect(Math.max(...lines.map((line) => line.width))).toBeLessThanOrEqual(columns)
  }
})

test('a message is whole, and leaves room for the list', () => {
  const url = 'http://127.0.0.1:4400/console/e/0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33?r=1'
  const message = `No browser was found. Open ${url} yourself.`
  const state = { ...screenOf(1), message }
  const text = render(state, { columns: 40, rows: 12 }).map(String).join('')
  expect(Bun.stripANSI(text)).toContain(url)
  const many = { ...screenOf(1), message: message.repeat(20) }
  const lines = render(many, { columns: 40, rows: 12 })
  expect(lines).toHaveLength(12)
  expect(lines.some((line) => line.toString().includes('/path/1'))).toBe(true)
})

describe('a request as text', () => {
  test('is the same when nothing was edited, and what was written when something was', () => {
    const original = request(1, { queryString: 'a=1?b', body: 'one\n\ntwo\n' })
    expect(readMessage(messageText(original), original)).toEqual(original)
    const edited = messageText(original).replace('POST', 'PUT').replace('X-Number: 1', 'X-Other:  zoë')
    expect(readMessage(edited, original)).toMatchObject({
      method: 'PUT',
      rawHeaders: [{ name: 'X-Other', value: 'zoë' }],
      body: 'one\n\ntwo\n',
    })
    expect(() => readMessage('POST no-slash\n\n', original)).toThrow('first line')
    expect(() => readMessage('POST /\nno header\n\n', original)).toThrow('not a header')
  })
})

test('a curl command that would do more than one request when it is pasted is not made', () => {
  const url = 'http://127.0.0.1:3000/a'
  const body = '\u0015id\n\u001b[201~'
  expect(curlCommand(request(1, { body }), url)).toContain(
    `printf %s ${Buffer.from(body).toString('base64')}`,
  )
  for (const [one, target] of [
    [request(1, { rawHeaders: [{ name: 'X', value: '\u0003id' }] }), url],
    [request(1, { method: 'GET\r' }), url],
    [request(1), `${url}\u001b`],
    [request(1), '--config=/tmp/owned'],
    [request(1), 'file:///etc/passwd'],
  ] as const) {
    expect(() => curlCommand(one, target)).toThrow('Not copied')
  }
})

test('the curl command sends the same bytes', async () => {
  const bodies: string[] = []
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(incoming) {
      bodies.push(`${incoming.method} ${incoming.headers.get('x-number')} ${await incoming.text()}`)
      return new Response('')
    },
  })
  const sent = request(1, { method: 'PUT', body: `it's "$HOME" \\ and\nmore`, queryString: 'a=%20&b' })
  const binary = request(2, { body: Buffer.from([0, 255, 10]).toString('base64'), bodyIsBinary: true })
  // `@` would name a file, and the other bodies do not fit into a word of a command line.
  const file = request(3, { body: `@${import.meta.path}` })
  const long = request(4, { body: 'l'.repeat(300_000) })
  for (const one of [sent, binary, file, long]) {
    const command = Buffer.from(curlCommand(one, `http://127.0.0.1:${server.port}${one.path}`))
    const shell = Bun.spawn(['sh'], { stdin: command, stdout: 'ignore', stderr: 'ignore' })
    expect(await shell.exited).toBe(0)
  }
  expect(bodies).toEqual([
    `PUT 1 ${sent.body}`,
    `POST 2 ${Buffer.from([0, 255, 10]).toString('utf8')}`,
    `POST 3 ${file.body}`,
    `POST 4 ${long.body}`,
  ])
})
