import { forgetLastErrors, forgetWords, isAnyLeased, lastErrors } from '../alertChannels/index.ts'
import { forgetIncidentReasons, forgetReasons, nextIncidentReasons, nextReasons } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { forgetRefusal, lastRefusal } from '../endpoints/index.ts'
import { forgetFields, forgetLabels, listedFields, listedLabels } from '../events/index.ts'
import { isAnyUnstored } from '../exports/index.ts'
import { type Trx, valuesOf } from '../platform/db/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { forgetAnswers, isAnySending, nextAnswers } from '../rehearsals/index.ts'
import { forgetKeptAnswers, forgetNotes, forgetOriginals, nextKeptAnswers } from '../requests/index.ts'
import { eraseRequests, reduceRequests, removeAttempts, removeRecords } from '../retention/index.ts'
import { forgetAgentEvents, nextAgentEvents } from '../subscriptions/index.ts'
import { anyOf, type Search, type ValueFinder } from './match.ts'
import { Counts, type Part, type Progress } from './progress.ts'
import {
  attemptHolds,
  isAnyPending,
  lastAttemptId,
  lastRequestId,
  messageOf,
  nextAttempts,
  nextAttemptsOf,
  nextRequests,
} from './scan.ts'

/** Rows of one step outside of captures and attempts. */
const ROWS_MAX = 100
/** Endpoints whose parts are listed at once: the progress is written at each step. */
const ENDPOINTS_LISTED = 20

/** An erasure that a job holds. */
export interface Work {
  readonly services: Pick<Services, 'db' | 'enqueue' | 'clock' | 'secrets' | 'log'>
  readonly workspaceId: string
  readonly finder: ValueFinder
  readonly mode: 'delete' | 'redact'
  /** Time after which a search begins no further row, in milliseconds. The next step goes on with it. */
  readonly searchMs: number
}

/** Result of a step: what it read and found, the part that is left, and the writes that erase what it found. */
export interface Step {
  readonly scannedRequests?: number
  readonly scannedAttempts?: number
  readonly counts: Partial<Progress['counts']>
  /** Endpoint of the captures that were found. */
  readonly endpointId?: string
  /** Parts to do before the part goes on. */
  readonly before?: readonly Part[]
  /** Continues the part; null when it is done. */
  readonly next: Part | null
  /** Set if the part waits for attempts or sends that are under way. */
  readonly isWaiting?: true
  /** Not called by a dry run. */
  readonly erase: (trx: Trx) => Promise<unknown>
}

type PartOf<Name extends Part['part']> = Extract<Part, { part: Name }>

/** The step of a part that is done. */
const DONE: Step = { counts: {}, next: null, erase: async () => {} }

const idsOf = <Id>(rows: readonly { readonly id: Id }[]): Id[] => rows.map(({ id }) => id)

/** Reads the next rows of a part, finds the value in them, and returns how to erase them. Changes nothing. */
export async function stepOf(work: Work, part: Part): Promise<Step> {
  const { services, workspaceId, finder } = work
  const { db } = services
  switch (part.part) {
    case 'round':
      return await roundStep(work, part)
    case 'attempts':
      return await attemptStep(work, part)
    case 'requests':
      return await requestStep(work, part)
    case 'late':
      return await lateStep(work, part)
    // Answers beside originals, which no record of an attempt repeats. They are no counted things: they end with their
    // deliveries.
    case 'keptAnswers':
      return await rowStep(work, await nextKeptAnswers(services, part), {
        *holds({ answer }) {
          return answer === null || (yield* finder.inMessage(answer))
        },
        next: ({ requestId }) => ({ ...part, afterId: requestId }),
        erase: (trx, found) => forgetKeptAnswers(trx, part.endpointId, valuesOf(found, 'requestId')),
      })
    case 'texts':
      return await textStep(work, part)
    case 'incidents':
      return await rowStep(work, await nextIncidentReasons(db, workspaceId, part.afterId, ROWS_MAX), {
        holds: ({ reason }) => finder.inText(reason),
        count: 'alerts',
        next: ({ id }) => ({ ...part, afterId: id }),
        erase: (trx, found) => forgetIncidentReasons(trx, idsOf(found)),
      })
    case 'answers':
      return await answerStep(work, part)
    case 'alerts':
      return await alertStep(work, part)
    case 'agentEvents':
      return await rowStep(work, await nextAgentEvents(db, workspaceId, part.afterId, ROWS_MAX), {
        holds: ({ body, attempts }) => anyOf([body, attempts].map(finder.inText)),
        count: 'agentEvents',
        next: ({ id }) => ({ ...part, afterId: id }),
        erase: (trx, found) => forgetAgentEvents(trx, idsOf(found)),
      })
  }
}

/** The step over the next rows of a part, each of which is erased alone. */
async function rowStep<Row>(
  work: Work,
  rows: readonly Row[],
  of: {
    readonly holds: (row: Row) => Search
    /** The count to which a row with the value belongs. */
    readonly count?: keyof Progress['counts']
    /** The part after the last row. */
    readonly next: (last: Row) => Part
    readonly erase: (trx: Trx, found: readonly Row[]) => Promise<unknown>
  },
): Promise<Step> {
  const { searched, found } = await search(rows, of.holds, work)
  const last = searched.at(-1)
  if (last === undefined) return DONE
  return {
    counts: of.count === undefined ? {} : { [of.count]: found.length },
    next: of.next(last),
    erase: (trx) => of.erase(trx, found),
  }
}

async function attemptStep(work: Work, part: PartOf<'attempts'>): Promise<Step> {
  const { rows, lastId } = await nextAttempts(work.services.db, part)
  if (lastId === null) return DONE
  const { searched, found } = await search(rows, (row) => attemptHolds(work.finder, row), work)
  const ids = idsOf(found)
  return {
    scannedAttempts: searched.length,
    counts: { attempts: ids.length },
    next: { ...part, afterId: lastSearched(rows, searched, lastId) },
    erase: (trx) => removeAttempts(trx, part.endpointId, { attemptIds: ids }),
  }
}

/**
 * Looks at the attempts again that were under way: their records may have come after the rows were looked at. It begins
 * when they have ended.
 */
async function lateStep(work: Work, part: PartOf<'late'>): Promise<Step> {
  const { db } = work.services
  const { endpointId, afterId } = part
  const upToId = part.upToId ?? (await lastAttemptId(db, endpointId))
  if (await isAnyPending(db, { endpointId, afterId, upToId }))
    return { ...DONE, next: { ...part, upToId }, isWaiting: true }
  const step = await attemptStep(work, { part: 'attempts', endpointId, afterId, upToId })
  const next = step.next?.part === 'attempts' ? { ...part, upToId, afterId: step.next.afterId } : null
  return { ...step, next }
}

/** Labels and names of fields that event types list, and the last refused sender. They are no counted things: captures have shown them. */
async function textStep({ services: { db }, finder }: Work, { endpointId }: PartOf<'texts'>): Promise<Step> {
  const labels = await matching(await listedLabels(db, endpointId), finder.inText)
  const isField = await inSlices(finder.inText(await listedFields(db, endpointId)))
  const isRefusal = await inSlices(finder.inText(await lastRefusal(db, endpointId)))
  return {
    ...DONE,
    erase: async (trx) => {
      await forgetLabels(trx, endpointId, labels)
      if (isField) await forgetFields(trx, endpointId)
      if (isRefusal) await forgetRefusal(trx, endpointId)
    },
  }
}

async function requestStep(work: Work, part: PartOf<'requests'>): Promise<Step> {
  const { services, finder, mode } = work
  const { endpointId } = part
  const { rows, lastId } = await nextRequests(services, part)
  if (lastId === null) return DONE
  const { searched, found: holding } = await search(
    rows,
    ({ request, remarks, original }) =>
      anyOf([
        finder.inRequest(request, remarks),
        ...(original === undefined ? [] : [finder.inRequest(original, [])]),
      ]),
    work,
  )
  const read = await nextAttemptsOf(services.db, part, idsOf(holding))
  // Attempts that hold the value themselves were counted before.
  const without = await search(
    read.rows,
    function* (attempt) {
      return !(yield* attemptHolds(finder, attempt))
    },
    work,
  )
  const cutAt = read.rows[without.searched.length]?.requestId ?? read.cutAt
  // The capture whose attempts are not all searched, and those after it, are for the next step.
  const fits = ({ id }: { readonly id: number }) => cutAt === null || id < cutAt
  const found = holding.filter(fits)
  const ids = idsOf(found)
  const noted = idsOf(await matching(searched.filter(fits), ({ note }) => finder.inText(note)))
  // Alone, its attempts go before it does, but those that are under way.
  const isPiece = cutAt !== null && ids.length === 0
  const isRead = ({ requestId }: { readonly requestId: number }) => isPiece || fits({ id: requestId })
  const attempts = without.searched.filter(isRead)
  const binnedRequests = found.filter(({ isBinned }) => isBinned).length
  return {
    scannedRequests: searched.filter(fits).length,
    counts: {
      requests: ids.length - binnedRequests,
      binnedRequests,
      attempts: without.found.filter(isRead).length,
      notes: noted.length,
    },
    endpointId,
    next: {
      ...part,
      afterId: cutAt === null ? lastSearched(rows, searched, lastId) : cutAt - 1,
      attemptAfterId: isPiece ? (attempts.at(-1)?.id ?? 0) : 0,
    },
    erase: async (trx) => {
      if (noted.length > 0) await forgetNotes(trx, endpointId, noted)
      if (isPiece) {
        const attemptIds = idsOf(attempts.filter(({ state }) => state !== 'Pending'))
        await (mode === 'delete' ? removeAttempts : removeRecords)(trx, endpointId, { attemptIds })
      }
      if (ids.length === 0) return
      if (mode === 'delete') await eraseRequests(services, trx, endpointId, ids)
      else await reduceRequests(trx, endpointId, ids)
      // After the counters, which evictions lock first, too.
      await forgetOriginals(trx, endpointId, ids)
    },
  }
}

/** Answers that replays recorded. Sends that are under way may have read what is erased: they are waited for. */
async function answerStep(work: Work, part: PartOf<'answers'>): Promise<Step> {
  const { services, workspaceId, finder } = work
  const { db, clock } = services
  const now = clock.now()
  const sentUpTo = part.sentUpTo ?? now.toISOString()
  if (await isAnySending(db, workspaceId, { now, sentUpTo: new Date(sentUpTo) }))
    return { ...DONE, next: { ...part, sentUpTo }, isWaiting: true }
  return await rowStep(work, await nextAnswers(db, workspaceId, part, ROWS_MAX), {
    holds: ({ error, headers, differences, body }) =>
      // A body that was cut does not decode.
      anyOf([...[error, differences].map(finder.inText), finder.inMessage(messageOf(headers, body, null))]),
    count: 'replayResults',
    next: ({ replayId, position }) => ({ ...part, sentUpTo, replayId, position }),
    erase: forgetAnswers,
  })
}

async function alertStep(
  { services: { db, clock }, workspaceId, finder }: Work,
  part: PartOf<'alerts'>,
): Promise<Step> {
  const rows = await nextReasons(db, workspaceId, part.afterId, ROWS_MAX)
  if (rows.length === 0) {
    const errors = await lastErrors(db, workspaceId)
    const ids = idsOf(await matching(errors, ({ lastError }) => finder.inText(lastError)))
    return { ...DONE, erase: (trx) => forgetLastErrors(trx, ids) }
  }
  const ids = idsOf(await matching(rows, ({ reason }) => finder.inText(reason)))
  // The answer of a channel is recorded when the send has ended, and may repeat the message.
  if (await isAnyLeased(db, ids, clock.now())) return { ...DONE, next: part, isWaiting: true }
  return {
    counts: { alerts: ids.length },
    next: { ...part, afterId: rows.at(-1)?.id ?? part.afterId },
    erase: async (trx) => {
      await forgetWords(trx, { alertIds: ids })
      await forgetReasons(trx, ids)
    },
  }
}

/** Searches rows for a time, at least one of them, with pauses for other work of the process. */
async function search<Row>(
  rows: readonly Row[],
  holds: (row: Row) => Search,
  { searchMs }: Pick<Work, 'searchMs'>,
): Promise<{ readonly searched: readonly Row[]; readonly found: readonly Row[] }> {
  const endsAt = performance.now() + searchMs
  return await inSlices(
    (function* () {
      const found: Row[] = []
      let count = 0
      for (const row of rows) {
        if (count > 0 && performance.now() >= endsAt) break
        if (yield* holds(row)) found.push(row)
        count += 1
        yield
      }
      return { searched: rows.slice(0, count), found }
    })(),
  )
}

/** The last id that was searched; that of the read if it was searched to its end. */
const lastSearched = (
  rows: readonly { readonly id: number }[],
  searched: readonly { readonly id: number }[],
  lastId: number,
): number => (searched.length < rows.length ? searched.at(-1)?.id : undefined) ?? lastId

/** The rows with the value, of texts that are short. */
async function matching<Row>(rows: readonly Row[], holds: (row: Row) => Search): Promise<readonly Row[]> {
  return (await search(rows, holds, { searchMs: Number.POSITIVE_INFINITY })).found
}

const LOWEST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * The parts of an erasure in their order. Attempts come first: the records of their captures' attempts go with the
 * captures. Labels and fields come after these, from which they are learned.
 */
export function partsOf(
  endpointsLeft: number,
  upTo: Pick<PartOf<'round'>, 'requestId' | 'importIds' | 'attemptId' | 'pendingFromId'>,
): Part[] {
  const round = { part: 'round', afterEndpointId: LOWEST_ID, endpointsLeft, ...upTo } as const
  return [
    { ...round, round: 'first' },
    { ...round, round: 'second', importIds: [] },
    { part: 'answers', replayId: LOWEST_ID, position: -1, sentUpTo: null },
    { part: 'incidents', afterId: LOWEST_ID },
    { part: 'alerts', afterId: LOWEST_ID },
    { part: 'agentEvents', afterId: 0 },
  ]
}

/**
 * Lists the parts of the next endpoints. One that was created since has nothing from before. First waits until imports
 * accepted before the erasure are stored, because their requests get ids only then.
 */
async function roundStep({ services: { db }, workspaceId }: Work, part: PartOf<'round'>): Promise<Step> {
  if (part.importIds.length > 0) {
    if (await isAnyUnstored(db, part.importIds)) return { ...DONE, next: part, isWaiting: true }
    return { ...DONE, next: { ...part, importIds: [], requestId: await lastRequestId(db) } }
  }
  const rows = await db
    .selectFrom('endpoints')
    .where('workspaceId', '=', workspaceId)
    .where('id', '>', part.afterEndpointId)
    .select('id')
    .orderBy('id')
    .limit(ENDPOINTS_LISTED)
    .execute()
  const last = rows.at(-1)
  if (last === undefined) return DONE
  const endpointsLeft = Math.max(0, part.endpointsLeft - rows.length)
  return {
    ...DONE,
    before: rows.flatMap(({ id }) => partsOfEndpoint(id, part)),
    next: { ...part, afterEndpointId: last.id, endpointsLeft },
  }
}

function partsOfEndpoint(endpointId: string, upTo: PartOf<'round'>): Part[] {
  return upTo.round === 'first'
    ? [
        { part: 'attempts', endpointId, afterId: 0, upToId: upTo.attemptId },
        { part: 'requests', endpointId, afterId: 0, upToId: upTo.requestId, attemptAfterId: 0 },
        { part: 'texts', endpointId },
      ]
    : [
        { part: 'late', endpointId, afterId: upTo.pendingFromId - 1, upToId: null },
        { part: 'keptAnswers', endpointId, afterId: 0 },
      ]
}

export function progressed(progress: Progress, step: Step): Progress {
  const counts = { ...progress.counts }
  for (const name of Counts.keyof().options) counts[name] += step.counts[name] ?? 0
  const found = (step.counts.requests ?? 0) + (step.counts.binnedRequests ?? 0)
  const { endpointId } = step
  const endpoints =
    endpointId === undefined || found === 0
      ? progress.endpoints
      : { ...progress.endpoints, [endpointId]: (progress.endpoints[endpointId] ?? 0) + found }
  const [, ...rest] = progress.left
  return {
    left: [...(step.before ?? []), ...(step.next === null ? [] : [step.next]), ...rest],
    scannedRequests: progress.scannedRequests + (step.scannedRequests ?? 0),
    scannedAttempts: progress.scannedAttempts + (step.scannedAttempts ?? 0),
    counts,
    endpoints,
  }
}
