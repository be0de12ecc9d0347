import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { useHook } from 'creel-client/testing'
import { notifyPaid } from './notify.mjs'

const hook = useHook({ beforeEach, afterEach })

test('tells of a paid order', async () => {
  await notifyPaid(hook().url, { id: 7 })
  const request = await hook().next({ body: { type: 'order.paid' } })
  assert.equal(request.method, 'POST')
})
