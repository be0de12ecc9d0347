import { expect, test } from 'bun:test'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcesses } from './firstProcess.ts'

/** A further process that is ready at once, and ends when it is asked to stop. */
const MEMBER = `
  process.on('message', ({ kind }) => {
    if (kind === 'start') process.send({ kind: 'ready' })
    if (kind === 'stop') process.exit(0)
  })
  process.send({ kind: 'loaded' })`

test('a process that cannot be started again, as its program is missing, is tried until it can', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'creel-first-process-'))
  const program = join(folder, 'program')
  const member = join(folder, 'member.js')
  await writeFile(member, MEMBER)
  await symlink(process.execPath, program)
  const ended: object[] = []
  const isReadyAgain = Promise.withResolvers<void>()
  const first = startProcesses({
    processes: 2,
    words: [program, member],
    env: process.env,
    log: {
      info: (about: unknown) => {
        process.kill(Number(Object(about).pids[0]), 'SIGKILL')
      },
      error: (about: unknown) => {
        ended.push(Object(about))
        // Two starts have failed.
        if (ended.length === 3) void symlink(process.execPath, program).then(isReadyAgain.resolve)
      },
    },
  })
  const service = { readFigures: async () => {}, isReady: async () => true }
  const settings = { version: '0', port: 0, storageMaxBytes: null }
  const opened = first.open(settings, Object(service))
  await rm(program)
  await opened
  await isReadyAgain.promise
  while ((await first.states()).running < 2) await Bun.sleep(10)
  await first.stop()
  await rm(folder, { recursive: true })
  const whys = ended.slice(0, 3).map((one) => String(Reflect.get(one, 'how')))
  expect(whys).toEqual(['SIGKILL', expect.stringContaining('ENOENT'), expect.stringContaining('ENOENT')])
})
