import { describe, expect, test } from 'bun:test'
import { tracked } from '@trpc/server'
import { z } from 'zod'
import { route, stream } from './route.ts'

/** Most of a declaration is checked by its types: `@ts-expect-error` fails the build if such a check is missing. */

const input = z.object({ endpointId: z.string(), name: z.string() })
const STREAM_PATH = '/api/v1/things/stream'

const called = {
  method: 'POST',
  path: '/api/v1/things/{endpointId}',
  summary: 'Make a thing',
  output: z.null(),
} as const

describe('route()', () => {
  test('takes an example of its input without the ids of the path', () => {
    const { contract } = route({ ...called, input, example: { name: 'orders' } })._def.meta ?? {}
    expect(contract?.example).toEqual({ name: 'orders' })
    // @ts-expect-error: a member of another type
    route({ ...called, input, example: { name: 1 } })
    // @ts-expect-error: a member is missing
    route({ ...called, input, example: {} })
    // @ts-expect-error: an unknown member
    route({ ...called, input, example: { name: 'orders', title: 'Orders' } })
  })
})

describe('stream()', () => {
  const declared = stream({
    method: 'GET',
    path: STREAM_PATH,
    summary: 'Follow things',
    input: z.object({}),
    events: { made: z.object({ count: z.int() }) },
  })

  test('holds its resolver to the declared events', () => {
    const made = declared.subscription(async function* () {
      yield tracked('1', { kind: 'made' as const, count: 1 })
    })
    expect(made._def).toMatchObject({ type: 'subscription', meta: { stream: { path: STREAM_PATH } } })
    // @ts-expect-error: an event that is not declared
    declared.subscription(async function* () {
      yield tracked('1', { kind: 'gone' as const, count: 1 })
    })
    // @ts-expect-error: a member of another type
    declared.subscription(async function* () {
      yield tracked('1', { kind: 'made' as const, count: 'one' })
    })
  })
})
