import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCheckpoint } from './checkpoint.ts'

const state = mkdtempSync(join(tmpdir(), 'creel-checkpoint-'))
afterAll(() => rmSync(state, { recursive: true }))

const of = { serviceUrl: 'http://localhost', endpointId: 'e', target: 'http://ü.localhost:3000' }
const open = () => openCheckpoint({ XDG_STATE_HOME: state }, of)

test('a short record replaces a long one, also one of a former run', () => {
  const long = { done: 1, beyond: Array.from({ length: 300 }, (_, at) => 1000 + at) }
  const short = { done: 2000, beyond: [] }
  const first = open()
  first.write(long)
  expect(first.read()).toEqual(long)
  first.write(short)
  expect(first.read()).toEqual(short)
  first.write(long)
  first.close()
  const second = open()
  second.write(short)
  expect(second.read()).toEqual(short)
  second.close()
})

test('what a former version left behind a record is not read', () => {
  const { file, read } = open()
  const [record = ''] = readFileSync(file, 'utf8').split('\n', 1)
  writeFileSync(file, `${record}\n   1001,1002],"endpointId":"e"}\n`)
  expect(read()).toEqual({ done: 2000, beyond: [] })
})
