import { describe, expect, test } from 'bun:test'
import { atEnd } from '../support/atEnd.ts'
import { eventually } from '../support/eventually.ts'
import { PROGRAM, runCreel } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { FORGED, type HostileService, hostileRequest, startHostileService } from './hostileService.ts'
import { startCommand } from './listenerProcess.ts'
import { emptyHome } from './support.ts'

/** Control characters without line feeds and the tabs of tables, bidirectional marks, and separators. */
const OBEYED = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u
/**
 * Our own sequences on a terminal: styles, the alternate screen, the cursor's shape, and its moves within drawn lines.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for these.
const OWN_SEQUENCES = /\u001b\[(?:[\d;]*m|\?(?:25|1049|2026)[hl]|\d*[ABCDGHJK])/g

const environmentOf = async ({ url }: HostileService) => ({
  CREEL_URL: url,
  CREEL_KEY: 'creel_live_of_the_test',
  HOME: await emptyHome(),
})

function expectHarmless(output: string): void {
  expect(OBEYED.exec(output)?.[0]).toBeUndefined()
  expect(output.split('\n').filter((line) => line.startsWith(FORGED))).toEqual([])
}

/** Output without the lines of a body, which may contain anything. */
const withoutBody = (output: string) => output.replace(`\n${FORGED}\n`, '\n')

const COMMANDS: readonly (readonly string[])[] = [
  ['whoami'],
  ['endpoints', 'list'],
  ['endpoints', 'create', '--name', 'a'],
  ['endpoints', 'get'],
  ['endpoints', 'update', '0f4a6f1e', '--name', 'a'],
  ['endpoints', 'rotate-url', '0f4a6f1e'],
  ['endpoints', 'delete', '0f4a6f1e'],
  ['endpoints', 'delete', '0f4a6f1e', '--yes'],
  ['endpoints', 'get', 'shop'],
  ['requests', 'list'],
  ['requests', 'delete'],
  ['requests', 'delete', '--all', '--yes'],
  ['await'],
  ['replay', '1'],
  ['replay', '1', '--to', 'listeners'],
  ['replay', '1', '--to', 'nothing of that name'],
  ['replay', '1', '--to', '9'],
  ['deliveries'],
  ['deliveries', '--attempt', '1'],
  ['watchdogs'],
  ['send', '--list'],
  ['send', 'stripe'],
  ['open', '--print'],
]

describe('a service that answers what terminals obey', () => {
  test.each(COMMANDS.map((words) => [words.join(' '), words] as const))('creel %s', async (_name, words) => {
    await using service = startHostileService()
    const env = await environmentOf(service)
    const plain = await runCreel(words, { env })
    expect(service.calls.length).toBeGreaterThan(0)
    expectHarmless(plain.stdout + plain.stderr)
    expect(plain.stderr).not.toMatch(/^ {4}at /m)
    const json = await runCreel([...words, '--json'], { env })
    expectHarmless(json.stdout + json.stderr)
    for (const line of json.stdout.split('\n')) if (line !== '') JSON.parse(line)
  })

  test.each([['whoami'], ['listen --to 9'], ['requests export'], ['requests get 1']])(
    'refuses with such a problem: creel %s',
    async (line) => {
      await using service = startHostileService({ refuses: true })
      const env = await environmentOf(service)
      const { stdout, stderr, exitCode } = await runCreel(line.split(' '), { env })
      expect(exitCode).toBe(1)
      expect(stderr).toStartWith('creel: ')
      expect(stderr).not.toMatch(/^ {4}at /m)
      expectHarmless(stdout + stderr)
    },
  )

  test('opens no program but the browser', async () => {
    await using service = startHostileService()
    const { exitCode, stderr } = await runCreel(['open'], { env: await environmentOf(service) })
    expect(exitCode).toBe(1)
    expect(stderr).toStartWith('creel: This is not an http or https URL: file:///etc/passwd')
  })

  test('is completed with words that shells take as they are', async () => {
    await using service = startHostileService()
    const env = await environmentOf(service)
    const complete = async (...words: string[]) =>
      (await runCreel(['complete', '--', ...words], { env })).stdout.split('\n').filter((word) => word !== '')
    expect(await complete('endpoints', 'get', '')).toEqual(['0f4a6f1e'])
    expect(await complete('send', '')).toEqual(['stripe'])
    expect(await complete('send', 'stripe', '')).toEqual([])
  })

  test('is shown by tail and listen, and is sent nowhere but to the target', async () => {
    await using trap = await startReceiver()
    await using local = await startReceiver({ status: 302, headers: { location: `${trap.url}/redirected` } })
    const evil = `127.0.0.1:${trap.port}/latest`
    const field = { name: 'Host', value: `127.0.0.1:${trap.port}` }
    const paths = [
      ...[
        `@${evil}`,
        `http://${evil}`,
        `//${evil}`,
        `\\\\${evil}`,
        `/@${evil}`,
        `/..//${evil}`,
        `.${evil}`,
        `:1@${evil}`,
      ],
      ...[
        '/../admin',
        '/%2e%2e/admin',
        '/..%2fadmin',
        '/..\\admin',
        '/x\r\nHost: evil\r\n\r\n',
        'evil',
        '#',
        '?',
      ],
    ]
    const captures = paths.map((path, at) =>
      hostileRequest(at + 1, { method: 'POST', path, queryString: `@${evil}`, rawHeaders: [field] }),
    )
    // A request that can never be sent does not block later ones, not even with --retry.
    const last = hostileRequest(captures.length + 1, {
      method: 'POST',
      path: '/last',
      queryString: null,
      rawHeaders: [],
    })
    await using service = startHostileService({ captures: [hostileRequest(1), ...captures.slice(1), last] })
    const env = await environmentOf(service)
    const to = `http://127.0.0.1:${local.port}/hooks`
    const words = ['listen', '--to', to, '--since', 'start', '--retry']
    const listeners = [startCommand(words, env), startCommand([...words, '--json', '--no-write'], env)]
    await eventually('the last capture', () => local.received.some(({ url }) => url === '/hooks/last'))
    for (const { url, header } of local.received) {
      expect(url).toStartWith('/hooks')
      expect(new URL(url, 'http://local').pathname).toMatch(/^\/hooks(\/|$)/)
      expect(header('host')).toBe(`127.0.0.1:${local.port}`)
    }
    expect(trap.received).toEqual([])
    listeners.push(startCommand(['tail', '--since', 'start'], env))
    for (const listener of listeners) {
      await listener.says(/\/last/)
      listener.signal('SIGTERM')
      expect(await listener.exited).toBe(0)
      expectHarmless(listener.stdout() + listener.stderr())
    }
  })

  test.each([
    ['null', 'null'],
    ['a request without members', '{"id":1}'],
    ['a request with members of other types', JSON.stringify(hostileRequest(1, { label: 7 }))],
  ])('that streams %s ends tail and listen with a sentence', async (_name, request) => {
    await using service = startHostileService({ captures: [JSON.parse(request)] })
    const env = await environmentOf(service)
    for (const words of [['tail'], ['listen', '--to', '9']]) {
      const { stdout, stderr, exitCode } = await runCreel([...words, '--since', 'start'], { env })
      expect(exitCode).toBe(1)
      expect(stderr).toMatch(/^creel: .* (this version|the client knows)/m)
      expect(stderr).not.toMatch(/^ {4}at /m)
      expectHarmless(stdout + stderr)
    }
  })

  test('gets bytes through a pipe, and shows them on a terminal', async () => {
    await using service = startHostileService()
    const env = await environmentOf(service)
    for (const words of [
      ['requests', 'get', '1', '--body'],
      ['requests', 'export'],
    ]) {
      expect((await runCreel(words, { env })).stdout).toContain('\u001b]0;owned')
      const { output, exited } = onTerminal(words, env)
      await exited
      expect(output()).toContain('\\u001b]0;owned')
      expectHarmless(withoutBody(output()))
    }
  })

  test.each([['endpoints list'], ['requests list'], ['requests get 1'], ['deliveries']])(
    'is shown on a terminal in our own styles alone: creel %s',
    async (line) => {
      await using service = startHostileService()
      const { output, raw, exited } = onTerminal(line.split(' '), await environmentOf(service))
      await exited
      expect(output()).toContain('\\u001b]0;owned')
      expect(raw()).toContain('\u001b[1m')
      expectHarmless(withoutBody(output()))
    },
  )

  test('on the screen of listen: the list, a capture, and a copy that a shell can be given', async () => {
    await using local = await startReceiver({ status: 200, body: '\u001b]0;owned\u0007' })
    const sent = hostileRequest(1, {
      method: 'POST',
      path: '/a',
      queryString: null,
      rawHeaders: [],
      body: '\u0015id\n',
    })
    await using service = startHostileService({ captures: [sent] })
    const words = ['listen', '--to', `${local.port}`, '--since', 'start']
    const screen = onTerminal(words, await environmentOf(service))
    await screen.shows(/→ 200/)
    screen.press('\r')
    await screen.shows(/200 in \d+ ms/)
    expectHarmless(screen.output())
    screen.press('c')
    const [, copied = ''] = await screen.shows(/\]52;c;([\w+/=]{40,})/)
    const command = Buffer.from(copied, 'base64').toString()
    expect(command).toContain(`http://localhost:${local.port}/a`)
    expect(command).toContain('base64 -d')
    expectHarmless(command)
    screen.press('q')
    await screen.exited
  })
})

/** Runs a command on a new terminal, 100 columns wide. */
function onTerminal(words: readonly string[], env: Readonly<Record<string, string>>) {
  let text = ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const ended = Promise.withResolvers<void>()
  const child = Bun.spawn([...PROGRAM, ...words], {
    env: { TERM: 'xterm-256color', ...env },
    terminal: {
      cols: 100,
      rows: 60,
      data: (_terminal, bytes) => {
        text += decoder.decode(bytes, { stream: true })
      },
      exit: () => ended.resolve(),
    },
  })
  const forget = atEnd('borrowers', async () => {
    child.kill('SIGKILL')
    await child.exited
  })
  // The last output is read after the process has ended.
  const exited = Promise.all([child.exited, ended.promise]).then(() => {
    forget()
    child.terminal?.close()
  })
  return {
    exited,
    raw: () => text,
    /** Without our own sequences. The terminal's driver writes CR LF for each line feed. */
    output: () => text.replace(OWN_SEQUENCES, '').replaceAll('\r\n', '\n'),
    press: (key: string) => void child.terminal?.write(key),
    shows: (pattern: RegExp) => eventually(`${pattern} on the terminal`, () => pattern.exec(text) ?? false),
  }
}
