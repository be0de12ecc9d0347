import { hookFixture } from 'creel-client/testing'
import { test as base, expect } from 'vitest'
import { notifyPaid } from './notify.mjs'

const test = base.extend({ hook: hookFixture() })

test('tells of a paid order, once', async ({ hook }) => {
  await notifyPaid(hook.url, { id: 7 })
  const request = await hook.next({ method: 'POST', body: { type: 'order.paid' } })
  expect(request.json()).toEqual({ type: 'order.paid', order: { id: 7 } })
  await hook.none({}, { within: 0.3 })
})
