import { forgetLastErrors, forgetWords, lastErrors } from '../alertChannels/index.ts'
import { forgetIncidentReasons, forgetReasons, nextIncidentReasons, nextReasons } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { forgetRefusal, lastRefusal } from '../endpoints/index.ts'
import { headerText } from '../engine/message/index.ts'
import { forgetFields, forgetLabels, listedFields, listedLabels } from '../events/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { forgetAnswers, nextAnswers } from '../rehearsals/index.ts'
import { forgetKeptAnswers, forgetNotes, forgetOriginals, nextKeptAnswers } from '../requests/index.ts'
import { eraseAttempts, eraseRequests, reduceRequests } from '../retention/index.ts'
import { forgetAgentEvents, nextAgentEvents } from '../subscriptions/index.ts'
import { anyOf, type Search, type ValueFinder } from './match.ts'
import { NOTHING_FOUND, type Part, type Progress } from './progress.ts'
import {
  attemptHolds,
  attemptsWhere,
  isAnyPending,
  lastAttemptId,
  nextAttempts,
  nextRequests,
} from './scan.ts'

/** Rows of one step outside of captures and attempts. */
const ROWS_MAX = 100

/** An erasure that a job holds. */
export interface Work {
  readonly services: Pick<Services, 'db' | 'enqueue' | 'clock' | 'secrets' | 'log'>
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
  /** Set if the part waits for attempts that are under way. */
  readonly isWaiting?: true
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
    case 'late':
      return await lateStep(work, part)
    case 'keptAnswers':
      return await keptAnswerStep(work, part)
    case 'texts':
      return await textStep(work, part)
    case 'incidents':
      return await incidentStep(work, part)
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
  const { rows, lastId } = await nextAttempts(db, part)
  if (lastId === null) return { counts: {}, next: null, erase: nothing }
  const found = await matching(rows, (row) => attemptHolds(finder, row))
  const ids = found.map(({ id }) => id)
  return {
    scannedAttempts: rows.length,
    counts: { attempts: ids.length },
    next: { ...part, afterId: lastId },
    erase: (trx) => eraseAttempts(trx, part.endpointId, ids),
  }
}

/**
 * Looks at the attempts again that were under way: their records may have come after the rows were looked at. It begins
 * when they have ended.
 */
async function lateStep(work: Work, part: Extract<Part, { part: 'late' }>): Promise<Step> {
  const { db } = work.services
  const { endpointId, afterId } = part
  const upToId = part.upToId ?? (await lastAttemptId(db, endpointId))
  if (await isAnyPending(db, { endpointId, afterId, upToId }))
    return { counts: {}, next: { ...part, upToId }, isWaiting: true, erase: nothing }
  const step = await attemptStep(work, { part: 'attempts', endpointId, afterId, upToId })
  const next = step.next?.part === 'attempts' ? { ...part, upToId, afterId: step.next.afterId } : null
  return { ...step, next }
}

/** Answers beside originals, which no record of an attempt repeats. They are no counted things: they end with their deliveries. */
async function keptAnswerStep(
  { services, finder }: Work,
  part: Extract<Part, { part: 'keptAnswers' }>,
): Promise<Step> {
  const rows = await nextKeptAnswers(services, part)
  const last = rows.at(-1)
  if (last === undefined) return { counts: {}, next: null, erase: nothing }
  const found = await matching(rows, function* ({ answer }) {
    if (answer === null) return true
    const headers = answer.headers.map(([, value]) => finder.inText(headerText(value)))
    return yield* anyOf([...headers, finder.inBytes(answer.body)])
  })
  const ids = found.map(({ requestId }) => requestId)
  return {
    counts: {},
    next: { ...part, afterId: last.requestId },
    erase: (trx) => forgetKeptAnswers(trx, part.endpointId, ids),
  }
}

/** Labels and names of fields that event types list, and the last refused sender. They are no counted things: captures have shown them. */
async function textStep(
  { services: { db }, finder }: Work,
  { endpointId }: Extract<Part, { part: 'texts' }>,
): Promise<Step> {
  const labels = await matching(await listedLabels(db, endpointId), finder.inText)
  const isField = await inSlices(finder.inText(await listedFields(db, endpointId)))
  const isRefusal = await inSlices(finder.inText(await lastRefusal(db, endpointId)))
  return {
    counts: {},
    next: null,
    erase: async (trx) => {
      await forgetLabels(trx, endpointId, labels)
      if (isField) await forgetFields(trx, endpointId)
      if (isRefusal) await forgetRefusal(trx, endpointId)
    },
  }
}

async function incidentStep(
  { services: { db }, workspaceId, finder }: Work,
  part: Extract<Part, { part: 'incidents' }>,
): Promise<Step> {
  const rows = await nextIncidentReasons(db, workspaceId, part.afterId, ROWS_MAX)
  const last = rows.at(-1)
  if (last === undefined) return { counts: {}, next: null, erase: nothing }
  const ids = (await matching(rows, ({ reason }) => finder.inText(reason))).map(({ id }) => id)
  return {
    counts: { alerts: ids.length },
    next: { part: 'incidents', afterId: last.id },
    erase: (trx) => forgetIncidentReasons(trx, ids),
  }
}

async function requestStep(
  { services, finder, mode }: Work,
  part: Extract<Part, { part: 'requests' }>,
): Promise<Step> {
  const { endpointId } = part
  const { db } = services
  const { rows, lastId } = await nextRequests(services, part)
  if (lastId === null) return { counts: {}, next: null, erase: nothing }
  const found = await matching(rows, ({ request, original }) =>
    anyOf([request, original].filter((each) => each !== undefined).map(finder.inRequest)),
  )
  const ids = found.map(({ id }) => id)
  const noted = (await matching(rows, ({ note }) => finder.inText(note))).map(({ id }) => id)
  // Attempts that hold the value themselves were counted before.
  const attempts = ids.length === 0 ? [] : await attemptsWhere(db, endpointId, { requestIds: ids })
  const others = await matching(attempts, function* (attempt) {
    return !(yield* attemptHolds(finder, attempt))
  })
  const binnedRequests = found.filter(({ isBinned }) => isBinned).length
  return {
    scannedRequests: rows.length,
    counts: {
      requests: ids.length - binnedRequests,
      binnedRequests,
      attempts: others.length,
      notes: noted.length,
    },
    endpointId,
    next: { ...part, afterId: lastId },
    erase: async (trx) => {
      if (noted.length > 0) await forgetNotes(trx, endpointId, noted)
      if (ids.length === 0) return
      await forgetOriginals(trx, endpointId, ids)
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
  const found = await matching(rows, ({ error, headers, differences, body }) =>
    anyOf([...[error, headers, differences].map(finder.inText), finder.inBytes(body)]),
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
  if (last === undefined) {
    const errors = await matching(await lastErrors(db, workspaceId), ({ lastError }) =>
      finder.inText(lastError),
    )
    const ids = errors.map(({ id }) => id)
    return { counts: {}, next: null, erase: (trx) => forgetLastErrors(trx, ids) }
  }
  const ids = (await matching(rows, ({ reason }) => finder.inText(reason))).map(({ id }) => id)
  return {
    counts: { alerts: ids.length },
    next: { part: 'alerts', afterId: last.id },
    erase: async (trx) => {
      await forgetWords(trx, { alertIds: ids })
      await forgetReasons(trx, ids)
    },
  }
}

async function agentEventStep(
  { services: { db }, workspaceId, finder }: Work,
  part: Extract<Part, { part: 'agentEvents' }>,
): Promise<Step> {
  const rows = await nextAgentEvents(db, workspaceId, part.afterId, ROWS_MAX)
  const last = rows.at(-1)
  if (last === undefined) return { counts: {}, next: null, erase: nothing }
  const found = await matching(rows, ({ body, attempts }) => anyOf([body, attempts].map(finder.inText)))
  const ids = found.map(({ id }) => id)
  return {
    counts: { agentEvents: ids.length },
    next: { part: 'agentEvents', afterId: last.id },
    erase: (trx) => forgetAgentEvents(trx, ids),
  }
}

/** Filters rows with pauses for other work of the process. */
async function matching<Row>(rows: readonly Row[], holds: (row: Row) => Search): Promise<Row[]> {
  return await inSlices(
    (function* () {
      const found: Row[] = []
      for (const row of rows) {
        if (yield* holds(row)) found.push(row)
        yield
      }
      return found
    })(),
  )
}

const LOWEST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * The parts of an erasure in their order. Attempts come first: the records of their captures' attempts go with the
 * captures. Labels and fields come after these, from which they are learned.
 */
export function partsOf(
  endpointIds: readonly string[],
  upTo: { readonly requestId: number; readonly attemptId: number; readonly pendingFromId: number },
): Part[] {
  return [
    ...endpointIds.flatMap((endpointId): Part[] => [
      { part: 'attempts', endpointId, afterId: 0, upToId: upTo.attemptId },
      { part: 'requests', endpointId, afterId: 0, upToId: upTo.requestId },
      { part: 'texts', endpointId },
    ]),
    ...endpointIds.flatMap((endpointId): Part[] => [
      { part: 'late', endpointId, afterId: upTo.pendingFromId - 1, upToId: null },
      { part: 'keptAnswers', endpointId, afterId: 0 },
    ]),
    { part: 'answers', replayId: LOWEST_ID, position: -1 },
    { part: 'incidents', afterId: LOWEST_ID },
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
