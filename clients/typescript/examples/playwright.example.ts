import { test as base, expect } from '@playwright/test'
import { type Hook, hookFixture } from 'creel-client/testing'
import { notifyPaid } from './notify.mjs'

const test = base.extend<{ hook: Hook }>({ hook: hookFixture() })

test('tells of a paid order', async ({ hook }) => {
  await notifyPaid(hook.url, { id: 7 })
  const request = await hook.next({ body: { order: { id: 7 } } })
  expect(request.contentType).toBe('application/json')
})
