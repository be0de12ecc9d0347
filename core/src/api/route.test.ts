import { describe, expect, test } from 'bun:test'
import { tracked } from '@trpc/server'
import { z } from 'zod'
import { post, stream } from './route.ts'

/** Most of a declaration is checked by its types: `@ts-expect-error` fails the build if such a check is missing. */

const input = z.object({ endpointId: z.string(), name: z.string() })
const STREAM_PATH = '/api/v1/things/stream'

const called = { summary: 'Make a thing', output: z.null() } as const
const PATH = '/api/v1/things/{endpointId}'

describe('post()', () => {
  test('takes an example of its input without the ids of the path', () => {
    const { contract } = post(PATH, { ...called, input, example: { name: 'orders' } })._def.meta ?? {}
    expect(contract?.example).toEqual({ name: 'orders' })
    // @ts-expect-error: a member of another type
    post(PATH, { ...called, input, example: { name: 1 } })
    // @ts-expect-error: a member is missing
    post(PATH, { ...called, input, example: {} })
    // @ts-expect-error: an unknown member
    post(PATH, { ...called, input, example: { name: 'orders', title: 'Orders' } })
    // @ts-expect-error: a parameter of the path that the input lacks
    post('/api/v1/things/{thingId}', { ...called, input })
  })
})

describe('stream()', () => {
  const declared = stream(STREAM_PATH, {
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
