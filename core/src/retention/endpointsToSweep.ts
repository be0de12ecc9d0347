import { planOf, retentionMs } from '../plans/index.ts'
import { type Db, type RowsOf, run, statement } from '../platform/db/index.ts'
import type { SweepServices } from './pace.ts'

export interface EndpointToSweep {
  readonly endpointId: string
  /** Older requests and attempts are past the plan's retention. */
  readonly keptSince: Date
  readonly storedRequestsMax: number
}

const PAGE = 1000

/** Every existing endpoint, with the current limits of its workspace's plan. Reads page by page. */
export async function* endpointsToSweep({
  db,
  plans,
  clock,
}: SweepServices): AsyncGenerator<EndpointToSweep> {
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const rows = await page(db, after)
    for (const row of rows) {
      const { limits } = planOf(plans, row.plan)
      const keptSince = new Date(clock.now().getTime() - retentionMs(limits))
      yield { endpointId: row.id, keptSince, storedRequestsMax: limits.storedRequestsMax }
      after = row.id
    }
    if (rows.length < PAGE) return
  }
}

const PAGE_OF = statement(
  'page of endpoints to sweep',
  `select e.id, w.plan from endpoints e join workspaces w on w.id = e.workspace_id
  where e.id > $1 and e.deleted_at is null
  order by e.id limit ${PAGE}`,
  { isPrepared: false },
)

async function page(db: Db, after: string): Promise<readonly RowsOf<typeof PAGE_OF>[]> {
  const rows = await run(db, PAGE_OF, [after])
  return rows
}
