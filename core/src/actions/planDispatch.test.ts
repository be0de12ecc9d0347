import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { requestRoot, storedCondition } from '../engine/conditions/index.ts'
import type { EvaluatedRequest } from '../engine/message/capturedRequest.ts'
import { type DispatchAction, planDispatch } from './dispatchActions.ts'

const request: EvaluatedRequest = {
  endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
  receivedAt: new Date(),
  method: 'POST',
  path: '',
  queryString: null,
  headers: [],
  contentType: 'application/json',
  body: Buffer.from('{"type":"paid"}'),
  sizeBytes: 15,
  bodyTruncated: false,
  ip: null,
  label: 'paid',
  eventId: null,
  verification: null,
}
const when = (value: string) =>
  storedCondition(JSON.stringify({ all: [{ path: 'body.type', op: 'eq', value }] }))
const action = (name: string, more: Partial<DispatchAction> = {}): DispatchAction => ({
  id: name,
  name,
  kind: 'forward',
  isActive: true,
  suspendedByPlan: false,
  condition: storedCondition('{}'),
  ...more,
})
const plan = (...actions: DispatchAction[]) => {
  const { state, actions: chosen } = planDispatch(actions, requestRoot(request))
  return [state, ...chosen.map(({ name }) => name)]
}

describe('planDispatch', () => {
  test('no action, or none switched on: NotAttempted', () => {
    expect(plan()).toEqual(['NotAttempted'])
    expect(plan(action('off', { isActive: false }), action('over', { suspendedByPlan: true }))).toEqual([
      'NotAttempted',
    ])
  })

  test('conditions, and none matched: Skipped', () => {
    expect(plan(action('a', { condition: when('refunded') }), action('off', { isActive: false }))).toEqual([
      'Skipped',
    ])
  })

  test('every matching action gets a delivery, in position order', () => {
    expect(
      plan(
        action('first'),
        action('no', { condition: when('x') }),
        action('last', { condition: when('paid') }),
      ),
    ).toEqual(['Pending', 'first', 'last'])
  })

  test('the others never change what becomes of an action', () => {
    const flags = fc.record({ isActive: fc.boolean(), suspendedByPlan: fc.boolean(), hit: fc.boolean() })
    fc.assert(
      fc.property(fc.array(flags, { maxLength: 5 }), flags, (others, mine) => {
        const build = (name: string, { hit, ...more }: typeof mine) =>
          action(name, { ...more, condition: when(hit ? 'paid' : 'x') })
        const chosen = plan(...others.map((other, at) => build(`o${at}`, other)), build('mine', mine))
        expect(chosen.includes('mine')).toBe(mine.isActive && !mine.suspendedByPlan && mine.hit)
      }),
    )
  })
})
