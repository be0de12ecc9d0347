import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { validationFailed } from '../api/errors.ts'
import { waitForChanges } from '../streams/index.ts'
import { type EventFilter, readArguments } from './filter.ts'
import { newestPosition, readPage, type SharedReader } from './readTogether.ts'
import { POLL, type PollResult, type pollInput } from './schema.ts'
import { type FoundType, findType } from './sources.ts'

/** Least time between two looks of a poll that waits, so that a flood of other captures costs few looks. */
const LOOK_PAUSE_MS = 250

/**
 * Events of a type after a position; waits for one if asked to. Holds no database connection while it waits.
 *
 * @throws DomainError `not_found`, `validation_failed`; `rate_limited` over the waiting polls of the key; `unauthorized`
 *   when the key is revoked while it waits
 */
export async function pollEvents(
  ctx: Context,
  input: z.output<typeof pollInput>,
): Promise<z.input<typeof PollResult>> {
  const type = await findType(ctx, input.name)
  const filter = filterOf(type, input.arguments)
  const { endpointId } = type.source
  const afterId = input.cursor ?? (await newestPosition(ctx.db, endpointId))
  const { maxAgeMs } = input
  const reader: SharedReader = {
    name: input.name,
    filter,
    fields: filter.fields ?? type.source.fields,
    afterId,
    room: input.maxEvents ?? POLL.events,
    notBefore:
      maxAgeMs === null || maxAgeMs === undefined ? null : new Date(ctx.clock.now().getTime() - maxAgeMs),
  }
  const page =
    input.waitSeconds === 0
      ? await readPage(ctx.db, endpointId, reader, ctx.signal)
      : await awaitPage(ctx, endpointId, reader, input)
  return {
    events: page.events.map(({ occurrence }) => occurrence),
    cursor: String(page.lastId),
    truncated: page.isTruncated,
    hasMore: page.hasMore,
    nextPollMs: POLL.nextPollMs,
  }
}

/**
 * The filter of a type with its arguments.
 *
 * @throws DomainError `validation_failed`
 */
export function filterOf(
  { label }: Pick<FoundType, 'label'>,
  given: z.output<typeof pollInput>['arguments'],
): EventFilter {
  const read = readArguments(given)
  if (!('filter' in read)) throw validationFailed(read.issues)
  const { filter } = read
  if (label === null) return filter
  // Both must hold.
  const isAsked = filter.labels === null || filter.labels.includes(label)
  return { ...filter, labels: isAsked ? [label] : [] }
}

async function awaitPage(
  ctx: Context,
  endpointId: string,
  reader: SharedReader,
  { waitSeconds }: { readonly waitSeconds: number },
): ReturnType<typeof readPage> {
  const of = { kind: 'events', max: POLL.waiting, seconds: waitSeconds, noun: 'waiting polls of this key' }
  return await waitForChanges(ctx, endpointId, of, async ({ changes, ended, throwIfRefused }) => {
    let { afterId } = reader
    let isTruncated = false
    for (;;) {
      const page = await readPage(ctx.db, endpointId, { ...reader, afterId }, ctx.signal)
      isTruncated ||= page.isTruncated
      throwIfRefused()
      if (page.events.length > 0 || isTruncated || ended.aborted) return { ...page, isTruncated }
      afterId = page.lastId
      if (page.hasMore) continue
      await changes.next()
      await sleep(LOOK_PAUSE_MS, undefined, { signal: ended }).catch(() => undefined)
    }
  })
}
