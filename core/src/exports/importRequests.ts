import { randomUUID } from 'node:crypto'
import type { Context } from '../api/context.ts'
import { DomainError, MAX_PROBLEM_ITEMS, notFound, validationFailed } from '../api/errors.ts'
import { afterEffect } from '../api/problem.ts'
import {
  type CaptureSettings,
  captureRow,
  findCaptureSettings,
  storedFormInSteps,
  tellOfRedactionFaults,
} from '../capture/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { contentTypeIn, type EvaluatedRequest } from '../engine/message/index.ts'
import { isPassing } from '../platform/db/index.ts'
import { inSlices, Turns } from '../platform/turns/index.ts'
import { sealedRow } from '../requests/index.ts'
import { type CheckedLine, linesOf } from './importLines.ts'
import { dropImport, stageBatch, stagedHead, storedCount } from './importQueries.ts'
import { headersOf } from './line.ts'
import {
  acceptImport,
  type Imported,
  type ImportedInto,
  NOTHING_IMPORTED,
  storeImport,
} from './storeImport.ts'

const MAYBE_ACCEPTED = 'The import may have been accepted. Look at the requests before it is sent again.'

const IMPORT_BATCH_LINES = 500
/** Bytes in one batch. Captures of the endpoint wait while a batch is stored, and the limit also bounds memory. */
const BATCH_BYTES = 4 * 1024 * 1024
/** Limit of a decoded body, regardless of the plan; the gateway accepts no longer one. */
const BODY_BYTES_MAX = 60 * 1024 * 1024
/** Tolerance for times in the future, because clocks of services differ a little. */
const FUTURE_MS_MAX = 5 * 60_000
/** Time without a new batch after which a staged import counts as abandoned by its process. */
const ABANDONED_AFTER_MS = 60 * 60_000

/** Longest wait of an import for earlier ones of its workspace, in milliseconds. */
const WAIT_MS_MAX = 60_000

const imports = new Turns({ atOnce: 1, wait: { msMax: WAIT_MS_MAX, noun: 'imports' } })

/**
 * Stores requests that another service exported: with their times, marked as imported, and never dispatched. The import
 * is all or nothing: every line is checked and staged before the first is stored. From then on it completes, in another
 * process if this one dies. Imports of a workspace take turns; a waiting one is not read.
 *
 * @throws DomainError `validation_failed` naming the first 50 wrong parts, by their lines; `limit_reached` when the
 *   endpoint or the plan has no room for all of it; `concurrent_change` when what it may store has changed meanwhile
 * @throws LineTooLong when earlier imports of the workspace take longer than {@link WAIT_MS_MAX}
 */
export async function importRequests(
  ctx: Context,
  endpoint: ImportedInto,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Imported> {
  return await imports.run(ctx.workspace.id, () => importInTurn(ctx, endpoint, body), {
    signal: ctx.signal,
  })
}

async function importInTurn(
  ctx: Context,
  endpoint: ImportedInto,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Imported> {
  const importId = randomUUID()
  const endpointId = endpoint.id
  const settings = await findCaptureSettings(ctx, endpoint.captureId)
  if (settings === undefined) throw notFound('endpoint')
  let count = 0
  try {
    const staged = await stage(ctx, settings, importId, body)
    count = staged.count
    if (count === 0) return NOTHING_IMPORTED
    await acceptImport(ctx, { importId, endpoint, count, sealing: settings.sealing })
    await tellOfRedactionFaults(ctx, settings, [staged])
  } catch (error) {
    const drop = () => dropImport(ctx.db, importId)
    // The commit may have succeeded although its answer was lost. If dropping fails as well, the sweep stores the
    // import.
    await (count === 0 ? drop() : afterEffect(drop, MAYBE_ACCEPTED))
    throw error
  }
  // It is accepted: what this process does not store, the sweep does, in the other cell if the workspace moves with what
  // is staged. After a 503 clients would send all of it again.
  const accepted = { importedCount: count, firstId: null, lastId: null }
  try {
    const stored = await storeImport(ctx, { importId, endpointId, workspaceId: ctx.workspace.id })
    return stored.importedCount < count ? accepted : stored
  } catch (error) {
    const isMoving = error instanceof DomainError && error.code === 'unavailable'
    if (isMoving || isPassing(error)) return accepted
    throw error
  }
}

/** Checks every line, and stages them until one is wrong. @returns their number, and the first fault of a rule for storing */
async function stage(
  ctx: Context,
  settings: CaptureSettings,
  importId: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<{ readonly count: number; readonly redactionFault: string | null }> {
  const { endpointId } = settings
  const { payloadBytesMax, storedBytesMax, storedRequestsMax } = ctx.plan.limits
  const bodyBytesMax = Math.min(payloadBytesMax, BODY_BYTES_MAX)
  const bytesMax = Math.min(storedBytesMax, ctx.storageMaxBytes ?? storedBytesMax)
  const room = Math.max(0, storedRequestsMax - (await storedCount(ctx.db, endpointId)))
  const issues: InputIssue[] = []
  let heads: string[] = []
  let bodies: Buffer[] = []
  let batchBytes = 0
  let number = 0
  let count = 0
  let bytes = 0
  let fault: string | null = null
  const flush = async () => {
    const dueAt = new Date(ctx.clock.now().getTime() + ABANDONED_AFTER_MS)
    const [only] = bodies
    const together = bodies.length === 1 && only !== undefined ? only : Buffer.concat(bodies)
    await stageBatch(ctx.db, { importId, number }, { endpointId, dueAt, heads, bodies: together })
    number += 1
    heads = []
    bodies = []
    batchBytes = 0
  }
  for await (const read of linesOf(body, bodyBytesMax)) {
    const wrong = 'issues' in read ? read.issues : boundIssues(ctx, read, bodyBytesMax)
    issues.push(...wrong)
    if (issues.length >= MAX_PROBLEM_ITEMS) break
    if ('issues' in read || issues.length > 0) continue
    const { row, redactionFault } = await inSlices(rowInSteps(settings, read))
    fault ??= redactionFault
    const head = stagedHead(row)
    count += 1
    bytes += head.length + row.body.length
    if (count > room)
      throw noRoom(`The endpoint has room for ${room} more requests, not for line ${read.number}.`)
    if (bytes > bytesMax)
      throw noRoom(`Up to line ${read.number} it is more than the ${bytesMax} bytes that may be stored.`)
    heads.push(head)
    bodies.push(Buffer.from(row.body.buffer, row.body.byteOffset, row.body.byteLength))
    batchBytes += head.length + row.body.length
    if (heads.length === IMPORT_BATCH_LINES || batchBytes >= BATCH_BYTES) await flush()
  }
  if (issues.length > 0) throw refusal(issues)
  if (heads.length > 0) await flush()
  return { count, redactionFault: fault }
}

const noRoom = (sentence: string) => new DomainError('limit_reached', `${sentence} Nothing was stored.`)

function refusal(issues: readonly InputIssue[]): DomainError {
  const [first, ...rest] = issues
  if (first === undefined) return validationFailed([])
  return validationFailed([{ ...first, detail: `${first.detail} Nothing was stored.` }, ...rest])
}

/** Checks against the plan and the current time. */
function boundIssues(ctx: Context, { number, line, body }: CheckedLine, bodyBytesMax: number): InputIssue[] {
  const issues: InputIssue[] = []
  if (Date.parse(line.receivedAt) > ctx.clock.now().getTime() + FUTURE_MS_MAX) {
    const detail = `Line ${number}: receivedAt is in the future.`
    issues.push({ path: ['lines', number, 'receivedAt'], code: 'out_of_range', detail })
  }
  if (body.length > bodyBytesMax) {
    const detail = `Line ${number}: body is over the plan's ${bodyBytesMax} bytes.`
    issues.push({ path: ['lines', number, 'body'], code: 'too_long', detail })
  }
  return issues
}

/** The row of a line, without what the endpoint takes out of its captures. Yields between steps of its rules. */
function* rowInSteps(settings: CaptureSettings, { line, body }: CheckedLine) {
  const { endpointId } = settings
  const headers = headersOf(line)
  const given = line.contentType && Buffer.from(line.contentType).toString('latin1')
  const contentType = given === undefined ? (contentTypeIn(headers) ?? null) : given
  const request: EvaluatedRequest = {
    endpointId,
    receivedAt: new Date(line.receivedAt),
    method: line.method,
    path: line.path,
    queryString: line.queryString,
    headers,
    contentType,
    body,
    sizeBytes: line.sizeBytes ?? body.length,
    bodyTruncated: line.bodyTruncated,
    ip: line.ip,
    label: line.label,
    eventId: line.eventId,
    verification: line.verification,
  }
  const form = yield* storedFormInSteps(settings, request)
  const { columns } = settings
  const note = line.note === null ? null : Buffer.from(line.note)
  const taken = form?.redaction
  const paths = [...new Set([...line.redactedPaths, ...(taken?.paths ?? [])])]
  const fault = taken?.fault ?? line.redactionFault
  const redaction = paths.length === 0 && fault === null ? null : { paths, fault }
  const row = captureRow(form?.request ?? request, { redaction, columns, note })
  return {
    row: settings.sealing === null ? row : sealedRow(settings.sealing, row),
    redactionFault: taken?.fault ?? null,
  }
}
