import type { z } from 'zod'
import { recordedBody } from '../deliveries/index.ts'
import { headerText, type WireHeader } from '../engine/message/index.ts'
import type { Db } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import type { ItemRow } from './queries.ts'
import { type ReplayResultItem, type ReplayResults, type resultsInput, storedDifferences } from './schema.ts'

/** One page of the sends of a replay, in their order. */
export async function listResults(
  db: Db,
  replayId: string,
  { outcome, state, afterPosition = 0, limit }: z.output<typeof resultsInput>,
): Promise<z.input<typeof ReplayResults>> {
  let query = db
    .selectFrom('replayItems')
    .where('replayId', '=', replayId)
    .where('position', '>', afterPosition)
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
  const headers: readonly WireHeader[] | null = row.headers === null ? null : JSON.parse(row.headers)
  return {
    ...row,
    headers: headers === null ? null : headers.map(([name, value]) => ({ name, value: headerText(value) })),
    ...(body === null ? { body, bodyIsBinary: false } : recordedBody(body, true)),
    differences: [...storedDifferences(row.differences)],
  }
}
