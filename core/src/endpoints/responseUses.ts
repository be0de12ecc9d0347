import { sql } from 'kysely'
import { gathering } from '../api/gathering.ts'
import { type Db, run, statement, type Trx } from '../platform/db/index.ts'

/**
 * Adds `$4` uses of the response `$3` in the run `$2` of the endpoint `$1`. The row is the only count, so that it is
 * exact over all processes. Adds none in a sealed workspace: its rows are copied to another cell.
 */
const ADD_USES = statement(
  'add uses of response',
  `insert into response_uses as u (endpoint_id, run_id, position, used)
   select e.id, $2::uuid, $3::integer, $4::integer
   from endpoints e join workspaces w on w.id = e.workspace_id
   where e.id = $1::uuid and (w.sealed_until is null or w.sealed_until <= clock_timestamp())
   on conflict (endpoint_id, run_id, position) do update set used = u.used + excluded.used
   returning used`,
)

export interface Counted {
  readonly endpointId: string
  readonly runId: string
  readonly position: number
  readonly times: number
  /** False only looks whether one is left. */
  readonly takes: boolean
}

const takeTogether = gathering<Counted, boolean>(async (db, uses) => {
  const [{ endpointId, runId, position }] = uses
  const taken = uses.filter(({ takes }) => takes).length
  const [row] = await run(db, ADD_USES, [endpointId, runId, position, taken])
  if (row === undefined) throw new Error('The endpoint counts no answers now: it moves, or is gone.')
  let used = row.used - taken
  return uses.map(({ times, takes }) => {
    const isLeft = used < times
    if (takes) used += 1
    return isLeft
  })
})

/**
 * Takes one of the `times` of a response, for one answer. Answers at the same time share a statement, in the order of
 * their calls.
 *
 * @returns false if none is left
 * @throws errors of the database; nothing is known to be taken then
 */
export function takeUse(db: Db, counted: Counted): Promise<boolean> {
  return takeTogether(db, `${counted.runId}/${counted.position}`, counted)
}

/** Forgets how often the scripted responses of an endpoint have answered in runs before the present one. */
export async function forgetUses(trx: Trx, endpointId: string): Promise<void> {
  await sql`
    delete from response_uses u using endpoints e
    where u.endpoint_id = ${endpointId} and e.id = u.endpoint_id and u.run_id is distinct from e.responses_run
  `.execute(trx)
}
