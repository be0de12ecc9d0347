import type { z } from 'zod'
import { recordedBody } from '../deliveries/index.ts'
import { shownFields } from '../engine/message/index.ts'
import type { Db } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { type ReplayOptions, storedOptions } from './options.ts'
import { type ItemRow, NO_POSITION, type RunRow } from './queries.ts'
import {
  type Difference,
  type ReplayResultItem,
  type ReplayResults,
  type reportInput,
  type resultsInput,
  storedDifferences,
} from './schema.ts'

/** Rows of a Markdown report. */
const ROWS_MAX = 200
const VALUE_CHARACTERS_MAX = 200

/** Sends that a report shows as failures: a baseline differs, or the send could not be made. */
const isFailure = ({ outcome, state }: Pick<ItemRow, 'outcome' | 'state'>): boolean =>
  outcome === 'changed' || outcome === 'failed' || state === 'errored'

/** Sends that are read at once. */
const PAGE_ROWS = 50

/** Characters of the differences of a JUnit report. */
const DETAILS_CHARACTERS_MAX = 16 * 1024 * 1024
const NOT_SHOWN = 'The differences are not shown: the report has 16 MB of them.'

/** Sends of a replay after a place in their order, without their bodies. */
async function readPage(db: Db, replayId: string, afterPosition: number) {
  return await db
    .selectFrom('replayItems')
    .where('replayId', '=', replayId)
    .where('position', '>', afterPosition)
    .orderBy('position')
    .limit(PAGE_ROWS)
    .select(['position', 'requestId', 'fault', 'copy', 'state', 'outcome'])
    .select(['durationMs', 'statusCode', 'error', 'differences'])
    .select(sealedMembers('replay_items'))
    .execute()
}

type Reported = Awaited<ReturnType<typeof readPage>>[number] & {
  /** Why the send tells nothing; undefined if it does. */
  readonly skipped: string | undefined
}

function skippedAs(
  { state, outcome, fault, copy }: Omit<Reported, 'skipped'>,
  compare: ReplayOptions['compare'],
): string | undefined {
  if (state === 'waiting' || state === 'sending') return 'not sent'
  if (compare === undefined || state === 'errored' || outcome !== null) return undefined
  // The first answer of a pair is the baseline of the second.
  const isBaseline = compare.with === 'first' && fault === 'duplicate' && copy === 0
  return isBaseline ? undefined : 'not compared: no baseline, or a body that was not kept'
}

/** The sends of a replay in their order; a page of them is in memory. */
async function* sendsOf(db: Db, { id, options }: RunRow): AsyncGenerator<Reported, void> {
  const { compare } = storedOptions(options)
  let page = await readPage(db, id, 0)
  for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
    for (const row of page) yield { ...row, skipped: skippedAs(row, compare) }
    page = page.length < PAGE_ROWS ? [] : await readPage(db, id, last.position)
  }
}

/** The report of a replay: JUnit XML, one test case a send, or Markdown with the sends that differ. */
export async function reportOf(db: Db, replay: RunRow, format: z.output<typeof reportInput>['format']) {
  const items = sendsOf(db, replay)
  const file =
    format === 'junit'
      ? { contentType: 'application/xml', extension: 'xml', content: await junit(replay, items) }
      : { contentType: 'text/markdown', extension: 'md', content: await markdown(replay, items) }
  return { ...file, fileName: `replay-${replay.id}.${file.extension}`, encoding: 'utf8' as const }
}

async function junit(replay: RunRow, items: AsyncIterable<Reported>): Promise<string> {
  const cases: string[] = []
  const counts = { failures: 0, errors: 0, skipped: 0 }
  let detailed = 0
  for await (const item of items) {
    const seconds = ((item.durationMs ?? 0) / 1000).toFixed(3)
    const begin = `    <testcase classname="${escaped(replay.endpointId)}" name="${escaped(nameOf(item))}" time="${seconds}"`
    if (item.skipped !== undefined) {
      counts.skipped += 1
      cases.push(`${begin}><skipped message="${item.skipped}"/></testcase>`)
    } else if (isFailure(item)) {
      const isError = item.state === 'errored'
      counts[isError ? 'errors' : 'failures'] += 1
      const kind = isError ? 'error' : 'failure'
      const details = escaped(storedDifferences(item.differences).map(lineOf).join('\n'))
      detailed += details.length
      cases.push(`${begin}>
      <${kind} message="${escaped(summaryOf(item))}">${detailed > DETAILS_CHARACTERS_MAX ? NOT_SHOWN : details}</${kind}>
    </testcase>`)
    } else cases.push(`${begin}/>`)
  }
  const { failures, errors, skipped } = counts
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="creel replay ${escaped(replay.id)}" tests="${cases.length}" failures="${failures}" errors="${errors}" skipped="${skipped}">
    <properties><property name="seed" value="${replay.seed}"/></properties>
${cases.join('\n')}
  </testsuite>
</testsuites>
`
}

async function markdown(replay: RunRow, items: AsyncIterable<Reported>): Promise<string> {
  const lines: string[] = []
  const counts = { sends: 0, failed: 0, uncompared: 0 }
  for await (const item of items) {
    counts.sends += 1
    if (item.state === 'done' && item.skipped !== undefined) counts.uncompared += 1
    if (!isFailure(item)) continue
    counts.failed += 1
    if (lines.length < ROWS_MAX)
      lines.push(`| ${item.position} | ${item.requestId} | ${item.fault ?? ''} | ${cell(summaryOf(item))} |`)
  }
  const { sends, failed, uncompared } = counts
  const more = failed > ROWS_MAX ? `\n${failed - ROWS_MAX} more differ and are not shown.\n` : ''
  return `# Replay ${replay.id}

${sends} sends, seed ${replay.seed}: ${failed === 0 ? 'no differences.' : `${failed} differ.`}${uncompared === 0 ? '' : ` ${uncompared} without a baseline.`}
${
  failed === 0
    ? ''
    : `
| send | request | fault | difference |
| --- | --- | --- | --- |
${lines.join('\n')}
${more}`
}`
}

const nameOf = ({ requestId, fault, copy }: Reported): string =>
  `request ${requestId}${fault === null ? '' : ` (${fault}${copy === 1 ? ', again' : ''})`}`

function summaryOf(item: Reported): string {
  if (item.state === 'errored') return item.error ?? 'not sent'
  const [first, ...others] = storedDifferences(item.differences)
  if (first === undefined) {
    const lack = item.differences === null ? '; what differs was not kept' : ''
    return item.error ?? `status ${item.statusCode}${lack}`
  }
  return lineOf(first) + (others.length === 0 ? '' : `, and ${others.length} more`)
}

const lineOf = ({ path, before, after, missing }: Difference): string =>
  `${path}: ${missing === 'before' ? 'absent' : shownValue(before)} became ${missing === 'after' ? 'absent' : shownValue(after)}`

function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX).toWellFormed()}…`
}

/** Text for XML 1.0, which knows few control characters. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\x20-\uffff]/g, '�')
    .replaceAll(/[\ufffe\uffff]/g, '�')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')

/** One page of the sends of a replay, in their order. */
export async function listResults(
  db: Db,
  replayId: string,
  { outcome, state, afterPosition = 0, limit }: z.output<typeof resultsInput>,
): Promise<z.input<typeof ReplayResults>> {
  let query = db
    .selectFrom('replayItems')
    .where('replayId', '=', replayId)
    .where('position', '>', Math.min(afterPosition, NO_POSITION))
  if (outcome !== undefined) query = query.where('outcome', '=', outcome)
  if (state !== undefined) query = query.where('state', '=', state)
  const rows = await query
    .orderBy('position')
    .limit(limit)
    .selectAll()
    .select(sealedMembers('replay_items'))
    .execute()
  const last = rows.length < limit ? undefined : rows.at(-1)
  return { items: rows.map(itemView), next: last?.position ?? null }
}

function itemView({ body, ...row }: ItemRow): z.input<typeof ReplayResultItem> {
  return {
    ...row,
    headers: row.headers === null ? null : shownFields(JSON.parse(row.headers)),
    ...(body === null ? { body, bodyIsBinary: false } : recordedBody(body, true)),
    differences: [...storedDifferences(row.differences)],
  }
}
