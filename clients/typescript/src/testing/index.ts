import { createCreel } from '../creel.ts'
import type { CreelOptions } from '../transport.ts'
import type { NewEndpoint } from '../types.ts'
import { optionsOfEnvironment } from './environment.ts'
import { Hook } from './hook.ts'

export { Hook, HookError, type WaitOptions } from './hook.ts'
export type { HookRequest, JsonPattern, Matcher } from './matcher.ts'
export {
  Rehearsal,
  type RehearsalOptions,
  type RehearsedSend,
  rehearsalMatchers,
  rehearse,
} from './rehearse.ts'
export type { Handler, Unanswered } from './sending.ts'

/** The service to use, and the settings of its endpoint. */
export interface HookOptions {
  /** Default: the variables CREEL_URL and CREEL_KEY. */
  readonly creel?: CreelOptions
  /** Members of the endpoint, such as the answer that it gives. */
  readonly endpoint?: NewEndpoint
}

/** Lifetime of the endpoint, after which it deletes itself if the test did not. */
const TTL_SECONDS = 900

/** Makes an endpoint for as long as `body` runs, and deletes it with all that it captured. */
export async function withEndpoint<Result>(
  body: (hook: Hook) => Promise<Result> | Result,
  options: HookOptions = {},
): Promise<Result> {
  const hook = await openHook(options)
  try {
    return await body(hook)
  } finally {
    await hook.endpoint.delete()
  }
}

/** Functions that Jest, bun:test, node:test and Vitest have in common. */
export interface TestHooks {
  readonly beforeEach: (body: () => Promise<void>) => void
  readonly afterEach: (body: () => Promise<void>) => void
}

/**
 * An endpoint for each test of a file or a `describe`: `const hook = useHook({ beforeEach, afterEach })`, and in a test
 * `hook().url`.
 *
 * @returns the hook of the test that runs; it throws outside of one
 */
export function useHook({ beforeEach, afterEach }: TestHooks, options: HookOptions = {}): () => Hook {
  let hook: Hook | undefined
  beforeEach(async () => {
    hook = await openHook(options)
  })
  afterEach(async () => {
    const ended = hook
    hook = undefined
    await ended?.endpoint.delete()
  })
  return () => {
    if (hook === undefined) throw new Error('The hook is there while a test runs.')
    return hook
  }
}

/**
 * The fixture `hook` of Vitest and Playwright: `const test = base.extend({ hook: hookFixture() })`, and then
 * `test('…', async ({ hook }) => …)`.
 */
export function hookFixture(options: HookOptions = {}) {
  // Both frameworks read the fixtures that this one needs from the parameter.
  // biome-ignore lint/correctness/noEmptyPattern: none.
  return async ({}: object, use: (hook: Hook) => Promise<void>): Promise<void> => {
    await withEndpoint(use, options)
  }
}

async function openHook({ creel, endpoint }: HookOptions): Promise<Hook> {
  const made = await createCreel(creel ?? optionsOfEnvironment()).endpoints.create({
    name: 'test',
    ttlSeconds: TTL_SECONDS,
    ...endpoint,
  })
  return new Hook(made)
}
