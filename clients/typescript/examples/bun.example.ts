import { afterEach, beforeEach, expect, test } from 'bun:test'
import { useHook } from 'creel-client/testing'
import { notifyPaid } from './notify.mjs'

const hook = useHook({ beforeEach, afterEach })

test('tells of two paid orders, in their order', async () => {
  await notifyPaid(hook().url, { id: 7 })
  await notifyPaid(hook().url, { id: 8 })
  const [first] = await hook().sequence([{ body: { order: { id: 7 } } }, { body: { order: { id: 8 } } }])
  expect(first?.method).toBe('POST')
})
