import { setTimeout as delay } from 'node:timers/promises'
import { type TrackedEnvelope, tracked } from '@trpc/server'
import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import type { EventOf } from '../api/contract.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import type { OpenStream } from '../streams/index.ts'
import { findReplay, type ReplayRow } from './queries.ts'
import { type followEvents, ReplayRun } from './schema.ts'
import { readView } from './view.ts'

/** Time between two looks. */
const POLL_MS = 500

type Progress = TrackedEnvelope<EventOf<typeof followEvents>>

/** Tells the progress of a replay: at once, at each change, and at its end, which ends the stream. */
export async function followReplay(
  ctx: Context,
  endpoint: EndpointRow,
  { id }: ReplayRow,
  { ended, throwIfRefused }: OpenStream,
): Promise<AsyncGenerator<Progress, void>> {
  const { db } = ctx
  return (async function* () {
    let said = ''
    let looks = 0
    while (!ended.aborted) {
      const row = await findReplay(db, endpoint.id, id)
      if (row === undefined) return
      const progress: z.output<typeof ReplayRun> = ReplayRun.parse(await readView(db, row))
      const text = JSON.stringify(progress)
      if (text !== said) {
        said = text
        looks += 1
        yield tracked(String(looks), { kind: 'progress', ...progress })
      }
      const { state, reason } = progress
      if (row.finishedAt !== null) {
        yield tracked(String(looks + 1), { kind: 'ended', state, reason })
        return
      }
      await delay(POLL_MS, undefined, { signal: ended }).catch(() => undefined)
    }
    throwIfRefused()
  })()
}
