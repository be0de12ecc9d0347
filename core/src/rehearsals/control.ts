import type { Context } from '../api/context.ts'
import { notAllowed, notFound } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { recordChange } from '../audit/index.ts'
import { queueLanes } from '../dispatch/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { ABANDONED_MS, REPLAY_LANES, RUNNING_MAX } from './declarations.ts'
import { lockRun, type RunRow, releaseItems, updateRun } from './queries.ts'
import type { ReplayState } from './schema.ts'
import { readView } from './view.ts'

/** Changes of state that a caller may ask for: from which states, and to which. */
const CHANGES = {
  pause: { from: ['queued', 'running'], to: 'paused' },
  resume: { from: ['paused'], to: 'queued' },
  cancel: { from: ['queued', 'running', 'paused'], to: 'cancelled' },
} as const satisfies Record<string, { from: readonly ReplayState[]; to: ReplayState }>

export type Change = keyof typeof CHANGES

/**
 * Pauses, resumes or cancels a replay. A send that is under way ends.
 *
 * @throws DomainError `validation_failed` if the replay is in another state
 */
export async function changeState(
  ctx: Context,
  endpoint: EndpointRow,
  { id }: Pick<RunRow, 'id'>,
  change: Change,
) {
  const { from, to } = CHANGES[change]
  const view = await ctx.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, ctx.workspace.id)
    const row = await lockRun(trx, id).executeTakeFirst()
    if (row === undefined) throw notFound('replay')
    if (!from.some((state) => state === row.state))
      throw notAllowed(
        ['replayId'],
        `The replay is ${row.state}. Only one that is ${from.join(' or ')} can be changed so.`,
      )
    const now = ctx.clock.now()
    const isPulled = row.listenedAt !== null
    const state = to === 'queued' && isPulled ? 'running' : to
    const changed = await updateRun(trx, id, {
      state,
      baseAt: null,
      ...(isPulled ? { listenedAt: now } : {}),
      finishedAt: state === 'cancelled' ? now : null,
    })
    if (state === 'queued') await queueLanes(ctx, trx, REPLAY_LANES, [{ ...row, dueAt: now }])
    // A running replay made room.
    if (row.state === 'running') await wake(trx, ctx, row.workspaceId)
    await recordChange(trx, ctx, {
      action: `replays.${change}`,
      workspaceId: ctx.workspace.id,
      subject: { type: 'endpoint', id: endpoint.id, name: endpoint.name },
      endpointId: endpoint.id,
      before: { replayId: id, state: row.state },
      after: { replayId: id, state },
    })
    return await readView(trx, changed)
  })
  // Listeners wait for it.
  ctx.endpointChanges.announce([endpoint.id])
  return view
}

/**
 * Pauses replays whose listeners have gone for {@link ABANDONED_MS}. A send that was taken and never answered is taken
 * again after a resume.
 */
export async function pauseAbandoned({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const before = new Date(clock.now().getTime() - ABANDONED_MS)
  const abandoned = await db
    .selectFrom('replays')
    .where('state', '=', 'running')
    .where('listenedAt', '<', before)
    .select(['id', 'workspaceId'])
    .execute()
  for (const { id, workspaceId } of abandoned) {
    await db.transaction().execute(async (trx) => {
      await lockWorkspace(trx, workspaceId)
      const row = await lockRun(trx, id).executeTakeFirst()
      if (row?.state !== 'running' || row.listenedAt === null || row.listenedAt >= before) return
      await releaseItems(trx, id)
      await updateRun(trx, id, { state: 'paused', baseAt: null })
    })
  }
}

/**
 * Ends a locked replay for good, and wakes the next ones of its workspace.
 *
 * @param reason why it failed; null if it is done
 */
export async function endReplay(
  trx: Trx,
  services: Pick<Services, 'clock' | 'enqueue'>,
  { id, workspaceId }: Pick<RunRow, 'id' | 'workspaceId'>,
  reason: string | null = null,
): Promise<void> {
  const state = reason === null ? 'done' : 'failed'
  await updateRun(trx, id, { state, reason, finishedAt: services.clock.now() })
  await wake(trx, services, workspaceId)
}

/** Leads to looks at the replays that wait for longest. Each begins if there is room. */
async function wake(
  trx: Trx,
  services: Pick<Services, 'clock' | 'enqueue'>,
  workspaceId: string,
): Promise<void> {
  const dueAt = services.clock.now()
  const queued = await trx
    .selectFrom('replays')
    .where('workspaceId', '=', workspaceId)
    .where('state', '=', 'queued')
    .orderBy('createdAt')
    .limit(RUNNING_MAX)
    .select(['id', 'workspaceId'])
    .execute()
  await queueLanes(
    services,
    trx,
    REPLAY_LANES,
    queued.map((lane) => ({ ...lane, dueAt })),
  )
}
