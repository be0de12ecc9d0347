import { afterAll, expect, test } from 'bun:test'
import { createOutbound } from '../outbound/index.ts'
import { createAccessTokens } from './index.ts'

let fetches = 0
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => Response.json({ access_token: `token-${++fetches}`, token_type: 'Bearer', expires_in: 3600 }),
})
const outbound = createOutbound({ allowDestinations: ['127.0.0.0/8'], ownHosts: () => [] })
afterAll(async () => {
  await outbound.close()
  await server.stop(true)
})

const newTokens = () => createAccessTokens({ outbound, clock: { now: () => new Date() }, version: '0' })
const client = (clientId: string) => ({
  tokenUrl: `http://127.0.0.1:${server.port}/token`,
  clientId,
  clientSecret: 'secret',
  scope: null,
})

test('an owner has room for 256 tokens, and takes none from another one', async () => {
  const tokens = newTokens()
  const theirs = await tokens.get('other', client('0'))
  const first = await tokens.get('owner', client('0'))
  for (let n = 1; n <= 255; n++) await tokens.get('owner', client(String(n)))
  expect(await tokens.get('owner', client('0'))).toEqual(first)
  await tokens.get('owner', client('256'))
  // The least recently used is 1; 0 has just been used.
  expect(await tokens.get('owner', client('0'))).toEqual(first)
  expect(await tokens.get('other', client('0'))).toEqual(theirs)
  const before = fetches
  await tokens.get('owner', client('1'))
  expect(fetches).toBe(before + 1)
})

test('no owner gets the token of another, though all else is the same', async () => {
  const tokens = newTokens()
  expect(await tokens.get('a', client('x'))).not.toEqual(await tokens.get('b', client('x')))
})

test('another secret or scope is another client', async () => {
  const tokens = newTokens()
  const known = await tokens.get('a', client('x'))
  expect(await tokens.get('a', { ...client('x'), clientSecret: 'rotated' })).not.toEqual(known)
  expect(await tokens.get('a', { ...client('x'), scope: 'more' })).not.toEqual(known)
  expect(await tokens.get('a', client('x'))).toEqual(known)
})
