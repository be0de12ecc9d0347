/** Names of destinations whose name servers answer late or never. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemResolve } from '../../core/src/platform/outbound/resolve.ts'
import { startNameServer } from '../support/nameServer.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

/** More than a process of a small machine has threads for look-ups by the C library. */
const SILENT_NAMES = 16

let names: AsyncDisposable

beforeAll(async () => {
  names = await startNameServer((name) => {
    if (name.startsWith('silent')) return 'never'
    return name.startsWith('receiver') ? 'loopback' : 'absent'
  })
})
afterAll(() => names[Symbol.asyncDispose]())

test('names of one workspace that are never answered hold up no delivery of another', async () => {
  await using receiver = await startReceiver()
  const service = await startService()
  const { alice, charlie } = service
  const forward = async (client: typeof alice, host: string) => {
    const endpoint = await client.endpoint()
    const url = `http://${host}:${receiver.port}/hooks`
    expect((await client.post(endpoint.at('/actions'), { kind: 'forward', name: host, url })).status).toBe(
      201,
    )
    return endpoint
  }
  const other = await forward(charlie, 'receiver.test')
  const stuck = await Promise.all(
    Array.from({ length: SILENT_NAMES }, (_, index) => forward(alice, `silent-${index}.test`)),
  )
  await Promise.all(stuck.map((endpoint) => endpoint.capture()))
  await other.capture()
  const [received] = await receiver.take(1)
  expect(received?.header('host')).toBe(`receiver.test:${receiver.port}`)
  await service.stop()
})

test('what no name server knows is asked of the C library, and is absent if that does not know it either', async () => {
  // The C library reads a shortened address as one.
  expect(await systemResolve('127.1')).toEqual(['127.0.0.1'])
  expect(await systemResolve('localhost')).toContain('127.0.0.1')
  expect(await systemResolve('absent.invalid').catch(() => 'absent')).toBe('absent')
})
