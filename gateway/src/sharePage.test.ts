import { expect, test } from 'bun:test'
import type { SharedLink } from '@creel/core'
import { pageInTurn } from './sharePage.ts'

const { signal } = new AbortController()
const linkOf = (workspaceId: string, read: SharedLink['read']): SharedLink => ({
  workspaceId,
  endpointName: 'shared',
  expiresAt: new Date(),
  read,
})
const gone = async () => undefined

test('a link whose request is read slowly holds up its own workspace, and no other', async () => {
  const held = Promise.withResolvers<undefined>()
  const order: string[] = []
  const slow = pageInTurn(
    linkOf('busy', () => held.promise),
    signal,
  ).then(() => order.push('slow'))
  const behind = pageInTurn(linkOf('busy', gone), signal).then(() => order.push('behind'))
  expect((await pageInTurn(linkOf('other', gone), signal)).status).toBe(404)
  order.push('other')
  held.resolve(undefined)
  await Promise.all([slow, behind])
  expect(order).toEqual(['other', 'slow', 'behind'])
})
