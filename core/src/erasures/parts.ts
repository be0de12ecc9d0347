import { forgetReasons, nextReasons } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { forgetAnswers, nextAnswers } from '../rehearsals/index.ts'
import { eraseAttempts, eraseRequests, reduceRequests } from '../retention/index.ts'
import { forgetAgentEvents, nextAgentEvents } from '../subscriptions/index.ts'
import type { ValueFinder } from './match.ts'
import { NOTHING_FOUND, type Part, type Progress } from './progress.ts'
import { attemptHolds, attemptsWhere, nextAttempts, nextRequests } from './scan.ts'

/** Rows of one step outside of captures and attempts. */
const ROWS_MAX = 100

/** An erasure that a job holds. */
export interface Work {
  readonly services: Pick<Services, 'db' | 'enqueue' | 'clock'>
  readonly workspaceId: string
  readonly finder: ValueFinder
  readonly mode: 'delete' | 'redact'
}

/** Result of a step: what it read and found, the part that is left, and the writes that erase what it found. */
export interface Step {
  readonly scannedRequests?: number
  readonly scannedAttempts?: number
  readonly counts: Partial<Progress['counts']>
  /** Endpoint of the captures that were found. */
  readonly endpointId?: string
  /** Continues the part; null when it is done. */
  readonly next: Part | null
  /** Not called by a dry run. */
  readonly erase: (trx: Trx) => Promise<unknown>
}

const nothing = async () => {}

/** Reads the next rows of a part, finds the value in them, and returns how to erase them. Changes nothing. */
export async function stepOf(work: Work, part: Part): Promise<Step> {
  switch (part.part) {
    case 'attempts':
      return await attemptStep(work, part)
    case 'requests':
      return await requestStep(work, part)
    case 'answers':
      return await answerStep(work, part)
    case 'alerts':
      return await alertStep(work, part)
    case 'agentEvents':
      return await agentEventStep(work, part)
  }
}

async function attemptStep(
  { services: { db }, finder }: Work,
  part: Extract<Part, { part: 'attempts' }>,
): Promise<Step> {
  const rows = await nextAttempts(db, part)
  const last = rows.at(-1)
  if (last === undefined) return { counts: {}, next: null, erase: nothing }
  const found = await matching(rows, (row) => attemptHolds(finder, row))
  const ids = found.map(({ id }) => id)
  return {
    scannedAttempts: rows.length,
    counts: { attempts: ids.length },
    next: { ...part, afterId: last.id },
    erase: (trx) => eraseAttempts(trx, part.endpointId, ids),
  }
}

async function requestStep(
  { services, finder, mode }: Work,
  part: Extract<Part, { part: 'requests' }>,
): Promise<Step> {
  const { endpointId } = part
  const { db } = services
  const rows = await nextRequests(db, part)
  const last = rows.at(-1)
  if (last === undefined) return { counts: {}, next: null, erase: nothing }
  const found = await matching(rows, ({ request }) => finder.inRequest(request))
  const ids = found.map(({ id }) => id)
  // Attempts that hold the value themselves were counted before.
  const attempts = ids.length === 0 ? [] : await attemptsWhere(db, endpointId, { requestIds: ids })
  const others = await matching(attempts, (attempt) => !attemptHolds(finder, attempt))
  const binnedRequests = found.filter(({ isBinned }) => isBinned).length
  return {
    scannedRequests: rows.length,
    counts: { requests: ids.length - binnedRequests, binnedRequests, attempts: others.length },
    endpointId,
    next: { ...part, afterId: last.id },
    erase: async (trx) => {
      if (ids.length === 0) return
      if (mode === 'delete') await eraseRequests(services, trx, endpointId, ids)
      else await reduceRequests(trx, endpointId, ids)
    },
  }
}

async function answerStep(
  { services: { db }, workspaceId, finder }: Work,
  part: Extract<Part, { part: 'answers' }>,
): Promise<Step> {
  const rows = await nextAnswers(db, workspaceId, part, ROWS_MAX)
  const last = rows.at(-1)
  if (last === undefined) return { counts: {}, next: null, erase: nothing }
  const found = await matching(
    rows,
    (row) => [row.error, row.headers, row.differences].some(finder.inText) || finder.inBytes(row.body),
  )
  return {
    counts: { replayResults: found.length },
    next: { part: 'answers', replayId: last.replayId, position: last.position },
    erase: (trx) => forgetAnswers(trx, found),
  }
}

async function alertStep(
  { services: { db }, workspaceId, finder }: Work,
  part: Extract<Part, { part: 'alerts' }>,
): Promise<Step> {
  const rows = await nextReasons(db, workspaceId, part.afterId, ROWS_MAX)
  const last = rows.at(-1)
  if (last === undefined) return { counts: {}, next: null, erase: nothing }
  const ids = (await matching(rows, ({ reason }) => finder.inText(reason))).map(({ id }) => id)
  return {
    counts: { alerts: ids.length },
    next: { part: 'alerts', afterId: last.id },
    erase: (trx) => forgetReasons(trx, ids),
  }
}

async function agentEventStep(
  { services: { db }, workspaceId, finder }: Work,
  part: Extract<Part, { part: 'agentEvents' }>,
): Promise<Step> {
  const rows = await nextAgentEvents(db, workspaceId, part.afterId, ROWS_MAX)
  const last = rows.at(-1)
  if (last === undefined) return { counts: {}, next: null, erase: nothing }
  const found = await matching(rows, ({ body, attempts }) => finder.inText(body) || finder.inText(attempts))
  const ids = found.map(({ id }) => id)
  return {
    counts: { agentEvents: ids.length },
    next: { part: 'agentEvents', afterId: last.id },
    erase: (trx) => forgetAgentEvents(trx, ids),
  }
}

/** Filters rows with pauses for other work of the process. */
async function matching<Row>(rows: readonly Row[], holds: (row: Row) => boolean): Promise<Row[]> {
  return await inSlices(
    (function* () {
      const found: Row[] = []
      for (const row of rows) {
        if (holds(row)) found.push(row)
        yield
      }
      return found
    })(),
  )
}

const LOWEST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * The parts of an erasure in their order. Attempts come first: the records of their captures' attempts go with the
 * captures.
 */
export function partsOf(
  endpointIds: readonly string[],
  upTo: { readonly requestId: number; readonly attemptId: number },
): Part[] {
  return [
    ...endpointIds.flatMap((endpointId): Part[] => [
      { part: 'attempts', endpointId, afterId: 0, upToId: upTo.attemptId },
      { part: 'requests', endpointId, afterId: 0, upToId: upTo.requestId },
    ]),
    { part: 'answers', replayId: LOWEST_ID, position: -1 },
    { part: 'alerts', afterId: LOWEST_ID },
    { part: 'agentEvents', afterId: 0 },
  ]
}

export function progressed(progress: Progress, step: Step): Progress {
  const counts = { ...NOTHING_FOUND, ...progress.counts }
  for (const name of Object.keys(NOTHING_FOUND)) {
    if (isCount(name)) counts[name] += step.counts[name] ?? 0
  }
  const found = (step.counts.requests ?? 0) + (step.counts.binnedRequests ?? 0)
  const { endpointId } = step
  const endpoints =
    endpointId === undefined || found === 0
      ? progress.endpoints
      : { ...progress.endpoints, [endpointId]: (progress.endpoints[endpointId] ?? 0) + found }
  const [, ...rest] = progress.left
  return {
    left: step.next === null ? rest : [step.next, ...rest],
    scannedRequests: progress.scannedRequests + (step.scannedRequests ?? 0),
    scannedAttempts: progress.scannedAttempts + (step.scannedAttempts ?? 0),
    counts,
    endpoints,
  }
}

function isCount(name: string): name is keyof Progress['counts'] {
  return name in NOTHING_FOUND
}
