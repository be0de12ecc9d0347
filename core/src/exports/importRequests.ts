import type { Context } from '../api/context.ts'
import { DomainError, validationFailed } from '../api/errors.ts'
import { recordChange } from '../audit/index.ts'
import { captureRow } from '../capture/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { lockCounters } from '../requests/index.ts'
import { decodedLine, linesOf } from './importLines.ts'
import { insertImported, storedCount } from './importQueries.ts'
import { bodyBytesOf, bodyOf, headersOf, type ImportLine } from './line.ts'

/** Lines that are stored together or not at all. */
export const IMPORT_BATCH_LINES = 500
/** A batch of large requests is shorter, so that memory stays flat. */
const BATCH_BYTES = 8 * 1024 * 1024
/** What a line may weigh beside its body, which base64 makes a third longer. */
const LINE_BYTES_BESIDES = 512 * 1024
/** Clocks of services differ a little; a time further ahead is a mistake. */
const FUTURE_MS_MAX = 5 * 60_000

/** What was stored. */
export interface Imported {
  readonly importedCount: number
  /** Of the first and the last request that was stored; null when none was. */
  readonly firstId: number | null
  readonly lastId: number | null
}

/** A line that may be stored. */
interface Accepted {
  readonly number: number
  readonly line: ImportLine
}

/**
 * Stores requests that another service exported: with their times, marked as imported, and never dispatched. Lines are
 * stored in batches of 500, each whole or not at all; the first batch with a wrong line ends the import.
 *
 * @throws DomainError `validation_failed` naming every wrong line of its batch; `limit_reached` when the endpoint's cap
 *   leaves no room for a batch. Both say which lines are stored.
 */
export async function importRequests(
  ctx: Context,
  endpointId: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Imported> {
  const { payloadBytesMax } = ctx.plan.limits
  const lineBytesMax = Math.ceil((payloadBytesMax * 4) / 3) + LINE_BYTES_BESIDES
  let imported: Imported = { importedCount: 0, firstId: null, lastId: null }
  let batch: Accepted[] = []
  const issues: InputIssue[] = []
  let lines = 0
  let bytes = 0
  let storedUpTo = 0
  const flush = async () => {
    if (issues.length > 0) throw refusal(issues, storedUpTo)
    if (batch.length === 0) return
    const { firstId, lastId } = await storeBatch(ctx, endpointId, batch, storedUpTo)
    imported = {
      importedCount: imported.importedCount + batch.length,
      firstId: imported.firstId ?? firstId,
      lastId,
    }
    storedUpTo = batch.at(-1)?.number ?? storedUpTo
    batch = []
    lines = 0
    bytes = 0
  }
  for await (const numbered of linesOf(body, lineBytesMax)) {
    const decoded = decodedLine(numbered)
    const wrong = 'issues' in decoded ? decoded.issues : boundIssues(ctx, decoded)
    if (wrong.length > 0) issues.push(...wrong)
    else if ('line' in decoded) batch.push(decoded)
    lines += 1
    bytes += 'text' in numbered ? numbered.text.length : 0
    if (lines === IMPORT_BATCH_LINES || bytes >= BATCH_BYTES) await flush()
  }
  await flush()
  return imported
}

function refusal(issues: readonly InputIssue[], storedUpTo: number): DomainError {
  const [first, ...rest] = issues
  if (first === undefined) return validationFailed([])
  return validationFailed([{ ...first, detail: `${first.detail} ${keptWords(storedUpTo)}` }, ...rest])
}

function keptWords(storedUpTo: number): string {
  return storedUpTo === 0 ? 'Nothing was stored.' : `Lines 1 to ${storedUpTo} are stored, no later one is.`
}

/** What the line alone cannot know: the plan and the present. */
function boundIssues(ctx: Context, { number, line }: Accepted): InputIssue[] {
  const issues: InputIssue[] = []
  const { payloadBytesMax } = ctx.plan.limits
  if (Date.parse(line.receivedAt) > ctx.clock.now().getTime() + FUTURE_MS_MAX) {
    const detail = `Line ${number}: receivedAt is in the future.`
    issues.push({ path: ['lines', number, 'receivedAt'], code: 'out_of_range', detail })
  }
  if (bodyBytesOf(line) > payloadBytesMax) {
    const detail = `Line ${number}: body is over the plan's ${payloadBytesMax} bytes.`
    issues.push({ path: ['lines', number, 'body'], code: 'too_long', detail })
  }
  return issues
}

async function storeBatch(
  ctx: Context,
  endpointId: string,
  batch: readonly Accepted[],
  storedUpTo: number,
): Promise<{ firstId: number; lastId: number }> {
  const rows = batch.map(({ line }) => rowOf(endpointId, line))
  return await ctx.db.transaction().execute(async (trx) => {
    // Ids are drawn under the lock, as captures draw theirs: they commit in order.
    await lockCounters(trx, endpointId)
    const room = ctx.plan.limits.storedRequestsMax - (await storedCount(trx, endpointId))
    if (rows.length > room) {
      throw new DomainError(
        'limit_reached',
        `The endpoint has room for ${Math.max(0, room)} more requests, not for the ${rows.length} from line ${batch[0]?.number} on. ${keptWords(storedUpTo)}`,
      )
    }
    const { firstId, lastId } = await insertImported(trx, endpointId, rows)
    await recordChange(trx, ctx, {
      action: 'requests.import',
      workspaceId: ctx.workspace.id,
      subject: { type: 'endpoint', id: endpointId },
      endpointId,
      before: {},
      after: { importedCount: rows.length, firstId, lastId },
    })
    return { firstId, lastId }
  })
}

function rowOf(endpointId: string, line: ImportLine) {
  const headers = headersOf(line)
  const body = bodyOf(line)
  const contentType =
    line.contentType === undefined
      ? (headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? null)
      : line.contentType === null
        ? null
        : Buffer.from(line.contentType).toString('latin1')
  return captureRow({
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
    verification: line.verification,
  })
}
