import { describe, expect, test } from 'bun:test'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { atEnd } from '../support/atEnd.ts'
import { PROGRAM, prepareDataFolder, runCreel, startProcess, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { emptyHome } from './support.ts'

/** A home in which the quick start's data folder contains a prepared PostgreSQL, if the run has one. */
async function preparedHome(): Promise<string> {
  const home = await emptyHome()
  await mkdir(join(home, '.local/share'), { recursive: true, mode: 0o711 })
  await prepareDataFolder(join(home, '.local/share/creel'))
  return home
}

interface Running {
  readonly child: Subprocess<'ignore', 'pipe', 'pipe'>
  /** Resolves with stdout so far when it matches. */
  until(pattern: RegExp): Promise<string>
  stop(signal?: NodeJS.Signals): Promise<number>
}

async function start(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Running> {
  const child = Bun.spawn([...PROGRAM, ...words], {
    cwd: await temporaryFolder(),
    env: { PATH: process.env.PATH, CREEL_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [output, errors, isOver] = ['', '', false]
  const waiting = new Set<() => void>()
  const collect = async (stream: ReadableStream<Uint8Array>, take: (text: string) => void) => {
    for await (const chunk of stream) {
      take(new TextDecoder().decode(chunk))
      for (const look of waiting) look()
    }
  }
  const outputEnded = collect(child.stdout, (text) => {
    output += text
  })
  const errorsEnded = collect(child.stderr, (text) => {
    errors += text
  })
  void Promise.all([outputEnded, errorsEnded]).then(() => {
    isOver = true
    for (const look of waiting) look()
  })
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return child.exited
  }
  const forget = atEnd('owners', () => stop())
  void child.exited.then(forget)
  return {
    child,
    stop,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (pattern.test(output)) resolve(output)
          else if (isOver) reject(new Error(`creel ${words.join(' ')} ended: ${output}${errors}`))
        }
        waiting.add(look)
        look()
      }),
  }
}

const registered = (home: string) => readdir(join(home, '.local/state/creel/services')).catch(() => [])

const exported = (block: string, name: string) =>
  new RegExp(`^ {2}export ${name}=(\\S+)$`, 'm').exec(block)?.[1] ?? ''

describe('creel without a command', () => {
  test('starts a service that every folder finds, prints one block, and the next one uses it', async () => {
    const env = { HOME: await preparedHome() }
    const quick = await start([], env)
    const block = await quick.until(/^ {2}\S+ listen --to 3000$/m)
    const [baseUrl, key, hook] = ['CREEL_URL', 'CREEL_KEY', 'HOOK'].map((name) => exported(block, name))
    expect(block.split(String(key))).toHaveLength(2)
    expect((await fetch(String(hook), { method: 'POST', body: '{"a":1}' })).status).toBe(200)
    const headers = { Authorization: `Bearer ${key}` }
    const own = await fetch(`${baseUrl}/api/v1/me`, { headers })
    expect(await own.json()).toMatchObject({ plan: { key: 'self-hosted' } })

    const elsewhere = { env: { ...env, DATABASE_URL: 'postgres://127.0.0.1:9/other' } }
    const cwd = await temporaryFolder()
    const me = await runCreel(['whoami', '--json'], { ...elsewhere, cwd })
    expect(JSON.parse(me.stdout)).toMatchObject({ url: baseUrl, workspace: { name: 'default' } })
    const keys = await runCreel(['key', 'list', '--workspace', 'default', '--json'], { env, cwd })
    expect(JSON.parse(keys.stdout)).toMatchObject([{ prefix: String(key).slice(0, 17) }])
    const again = await runCreel([], { ...elsewhere, cwd })
    expect(again).toMatchObject({ exitCode: 0 })
    expect(again.stderr).toContain(`Creel already runs on ${baseUrl}`)
    expect(exported(again.stdout, 'HOOK')).toBe(String(hook))
    expect(exported(again.stdout, 'CREEL_KEY')).toBe(String(key))
    expect(await runCreel(['--port', 'abc'], { ...elsewhere, cwd })).toMatchObject({ exitCode: 2 })

    expect(await registered(env.HOME)).toHaveLength(1)
    expect(await quick.stop('SIGINT')).toBe(0)
    expect(await registered(env.HOME)).toEqual([])
  })

  test('listen runs a service of its own where none runs, for as long as it does, whatever key is for others', async () => {
    await using receiver = await startReceiver()
    const env = { HOME: await preparedHome() }
    const listener = await start(['listen', '--to', String(receiver.port)], { ...env, CREEL_KEY: 'another' })
    const hook = (await listener.until(/\/hook\/\S+\n/)).trim()
    await fetch(`${hook}/paid`, { method: 'POST', body: 'x' })
    expect((await receiver.take(1))[0]).toMatchObject({ url: '/paid' })
    await listener.until(/→ 200/)
    expect(await registered(env.HOME)).toHaveLength(1)
    expect(await listener.stop('SIGINT')).toBe(0)
    expect(await registered(env.HOME)).toEqual([])
  })

  test('a killed service is not taken for one that runs, and two services of one user do not mix', async () => {
    const env = { HOME: await emptyHome() }
    const [first, second] = [await temporaryFolder(), await temporaryFolder()].map((folder) =>
      join(folder, '.creel'),
    )
    for (const folder of [first, second]) await prepareDataFolder(String(folder))
    const killed = await startProcess({ env }, ['--port', '0', '--data', String(first)])
    const { port } = new URL(killed.baseUrl)
    const cwd = await temporaryFolder()
    const whoami = async () => await runCreel(['whoami', '--json'], { env, cwd })
    expect(JSON.parse((await whoami()).stdout)).toMatchObject({ url: killed.baseUrl })
    killed.signal('SIGKILL')
    await killed.exited
    const none = await whoami()
    expect(none).toMatchObject({ exitCode: 1, stdout: '' })
    expect(none.stderr).toContain('No service of yours runs on this machine')
    expect(await registered(env.HOME)).toEqual([])
    // A successor on the same port: it must not be sent the stored key of the killed one.
    const successor = await startProcess({ env }, ['--port', port, '--data', String(second)])
    expect(JSON.parse((await whoami()).stdout)).toMatchObject({
      url: killed.baseUrl,
      keySource: join(String(second), 'terminal.key'),
    })
    const restarted = await startProcess({ env }, ['--port', '0', '--data', String(first)])
    const chosen = await whoami()
    expect(JSON.parse(chosen.stdout)).toMatchObject({ url: restarted.baseUrl })
    expect(chosen.stderr).toContain(
      `Several services of yours run. This is ${restarted.baseUrl}, data folder ${first}`,
    )
    await successor.stop()
    expect((await whoami()).stderr).toBe('')
    await restarted.stop()
    expect(await registered(env.HOME)).toEqual([])
  })

  test('the help fits one screen and names every command', async () => {
    const { stdout } = await runCreel(['help'])
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(24)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    const { COMMAND_GROUPS } = await import('../../creel/src/commandTable.ts')
    const shown = COMMAND_GROUPS.flatMap(({ commands }) => commands).filter(
      ({ isHidden }) => isHidden !== true,
    )
    expect(shown.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(stdout))).toEqual([])
  })
})
