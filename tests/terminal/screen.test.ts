import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { eventually } from '../support/eventually.ts'
import { neverAnswers } from '../support/hangingReceivers.ts'
import { PROGRAM } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { emptyHome, environmentOf } from './support.ts'

const tmux = Bun.which('tmux')

/** A headless terminal. */
class Terminal {
  private readonly server = `creel-${randomUUID()}`

  constructor(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
    size: { x: number; y: number },
  ) {
    const words = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    this.tmux('new-session', '-d', '-x', String(size.x), '-y', String(size.y), 'env', ...words, ...command)
  }

  private tmux(...words: string[]): string {
    return Bun.spawnSync(['tmux', '-L', this.server, '-f', '/dev/null', ...words], {
      env: { PATH: process.env.PATH, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    }).stdout.toString()
  }

  lines(): string[] {
    return this.tmux('capture-pane', '-p').split('\n')
  }

  press(...keys: string[]): void {
    this.tmux('send-keys', ...keys)
  }

  async shows(pattern: RegExp): Promise<string> {
    return await eventually(`${pattern} on the screen`, () => {
      const text = this.lines().join('\n')
      return pattern.test(text) && text
    })
  }

  isOver(): boolean {
    return this.tmux('list-sessions') === ''
  }

  end(): void {
    this.tmux('kill-server')
  }
}

describe.skipIf(tmux === null)('the screen of creel listen', () => {
  let service: TestService
  let local: Receiver
  let env: Record<string, string>
  const terminals: Terminal[] = []

  beforeAll(async () => {
    service = await startService()
    local = await startReceiver({ status: 201, body: 'made' })
    env = {
      PATH: process.env.PATH ?? '',
      EDITOR: 'sed -i s/one/ONE/',
      LANG: 'C.UTF-8',
      ...environmentOf(service.alice, await emptyHome()),
    }
  })
  afterAll(async () => {
    for (const terminal of terminals) terminal.end()
    await local[Symbol.asyncDispose]()
  })

  const open = (name: string, size: { x: number; y: number }) => {
    const words = ['listen', name, '--to', `http://127.0.0.1:${local.port}`]
    const terminal = new Terminal([...PROGRAM, ...words], env, size)
    terminals.push(terminal)
    return terminal
  }

  test('of several endpoints a command that only reads takes the one that captured last, and says so', async () => {
    const others = await startService()
    await others.alice.endpoint({ name: 'older' })
    await (await others.alice.endpoint({ name: 'used' })).capture({ body: 'x', suffix: '/here' })
    await others.alice.endpoint({ name: 'newest' })
    const list = `${PROGRAM.map((word) => `'${word}'`).join(' ')} requests list; read wait`
    const own = { ...env, ...environmentOf(others.alice, await emptyHome()) }
    const terminal = new Terminal(['sh', '-c', list], own, { x: 100, y: 30 })
    terminals.push(terminal)
    await terminal.shows(/Using "used", the endpoint with the latest capture \(of 3\)\.\n.*\/here/s)
  })

  test('shows a compressed body decoded, finds its text, and edits it plain', async () => {
    const endpoint = await service.alice.endpoint({ name: 'compressed' })
    const terminal = open('compressed', { x: 100, y: 30 })
    await terminal.shows(/connected.*Waiting for the first capture/s)
    await endpoint.send({ body: gzipSync('{"name":"one"}'), headers: { 'Content-Encoding': 'gzip' } })
    await terminal.shows(/› .*→ 201/)
    terminal.press('Enter')
    await terminal.shows(/content-encoding: gzip.*"name": "one".*\(arrived as gzip\)/is)
    terminal.press('Escape')
    await terminal.shows(/› .*→ 201/)
    terminal.press('e')
    await terminal.shows(/Edited #\d+: 201/)
    const edited = local.received.find(({ body }) => body.toString() === '{"name":"ONE"}')
    expect(edited?.header('content-encoding')).toBeUndefined()
    terminal.press('q')
    await eventually('the end', () => terminal.isOver())
  })

  test('lists captures, shows one whole, filters, replays, edits and sends, and ends', async () => {
    const endpoint = await service.alice.endpoint({ name: 'shown' })
    const terminal = open('shown', { x: 100, y: 30 })
    await terminal.shows(/● shown → http:\/\/127.*connected.*Waiting for the first capture/s)
    await endpoint.send({ body: '{"type":"order.paid","name":"one"}', suffix: '/first' })
    await endpoint.send({ body: '{"name":"two"}', suffix: '/second' })
    await terminal.shows(/POST {4}\/first {2}order\.paid {2}34 B {2}→ 201/)
    await terminal.shows(/› .*\/second/)

    terminal.press('Up')
    await terminal.shows(/› .*\/first/)
    terminal.press('Enter')
    await terminal.shows(/POST \/first.*"type": "order\.paid".*201 in \d+ ms.*made/s)
    terminal.press('Escape')
    await terminal.shows(/› .*\/first/)

    terminal.press('r')
    await terminal.shows(/\/first.*replay/)
    terminal.press('e')
    await eventually('the edited request', () => local.received.some(({ body }) => body.includes('"ONE"')))
    await terminal.shows(/Edited #\d+: 201/)

    terminal.press('/')
    terminal.press('-l', 'two')
    terminal.press('Enter')
    const filtered = await terminal.shows(/filter "two"/)
    expect(filtered).not.toContain('/first')
    terminal.press('?')
    await terminal.shows(/copy as a curl command/)
    terminal.press('q')
    await eventually('the end', () => terminal.isOver())
  })

  test('while the local server does not answer, a stop says so, and a second one ends at once', async () => {
    await using silent = await startReceiver()
    silent.answer = neverAnswers
    const endpoint = await service.alice.endpoint({ name: 'silent' })
    const words = ['listen', 'silent', '--to', `http://127.0.0.1:${silent.port}`]
    const terminal = new Terminal([...PROGRAM, ...words], env, { x: 100, y: 30 })
    terminals.push(terminal)
    await terminal.shows(/connected/)
    await endpoint.send()
    await silent.take(1)
    terminal.press('q')
    await terminal.shows(/Waiting for the local server to answer/)
    terminal.press('C-c')
    // Far less than the timeout of the answer.
    await eventually('the end', () => terminal.isOver(), { seconds: 120 })
  })

  test('fits a narrow terminal', async () => {
    const endpoint = await service.alice.endpoint({ name: 'narrow' })
    const terminal = open('narrow', { x: 40, y: 10 })
    await terminal.shows(/connected/)
    await endpoint.send({ suffix: '/a/path/that/is/longer/than/the/screen?and=more' })
    const shown = await terminal.shows(/POST.*… .*→ 201/)
    expect(shown.split('\n').filter((line) => line.includes('POST'))).toHaveLength(1)
    terminal.press('q')
  })
})
