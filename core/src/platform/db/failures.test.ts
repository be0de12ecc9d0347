import { expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { refusalOf } from '../../api/problem.ts'
import { isDatabaseOutage, isRefusedForGood, openDatabase } from './index.ts'

test('a server that accepts connections and stays silent is an outage, also beside another one', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const database = openDatabase(`postgres://u@127.0.0.1:${port},127.0.0.1:1/creel`)
  const error: unknown = await database.pool.query('select 1').catch((caught: unknown) => caught)
  expect([isDatabaseOutage(error), isRefusedForGood(error)]).toEqual([true, false])
  expect(refusalOf(error)?.code).toBe('unavailable')
  await database.close()
  silent.close()
}, 60_000)

test('a statement that fails by circumstances may be called again', () => {
  for (const code of ['57014', '55P03', '40001', '53400', '58030', '25P04', 'EAI_AGAIN'])
    expect([code, refusalOf(Object.assign(new Error('passing'), { code }))?.code]).toEqual([
      code,
      'unavailable',
    ])
  expect(refusalOf(Object.assign(new Error('a mistake'), { code: '42601' }))).toBeNull()
})
