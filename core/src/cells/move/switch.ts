import type { Db, Trx } from '../../platform/db/index.ts'
import { insertOf, type Pair } from './copy.ts'
import { digestOf, eachPiece } from './pieces.ts'
import { SWITCH_SECONDS } from './seal.ts'
import { BY_TRIGGERS, insertStaged, type Staged } from './stage.ts'
import { changeMove, type Move } from './state.ts'
import { BIG, type MovedTable, query } from './tables.ts'

/** Numbers that a sequence is set beyond the highest moved one, so that numbers drawn meanwhile do not meet it. */
const SEQUENCE_GAP = 1_000_000

/**
 * Moves the workspace itself: its row and those of all small tables are inserted in the target, most from the stage, and
 * deleted in the source. Until both are committed the workspace is sealed in the source. If the process ends in between, the state
 * `switching` and the target tell which cell has it.
 *
 * @param prepare runs in the target's transaction, before it is committed
 * @returns the number of rows of small tables that were copied now, because they had changed since they were staged
 * @throws Error when the seal is too old, a name or number is taken in the target, or rows differ there
 */
export async function switchCells(
  { source, target }: Pair,
  { tables, staged }: { readonly tables: readonly MovedTable[]; readonly staged: Staged },
  move: Move,
  prepare: (arriving: Trx) => Promise<void>,
): Promise<number> {
  const { workspaceId } = move
  const [sealed] = await query<{ id: string }>(
    source,
    `update workspaces set sealed_until = 'infinity'
    where id = $1 and sealed_until > clock_timestamp() + interval '${SWITCH_SECONDS} s' returning id`,
    [workspaceId],
  )
  if (sealed === undefined) throw new Error('The seal took too long.')
  await changeMove(source, move.id, { state: 'switching' })
  const small = tables.filter(({ name }) => !(name in BIG))
  let copied = 0
  await source.transaction().execute(async (leaving) => {
    await target.transaction().execute(async (arriving) => {
      const digests = new Map<MovedTable, string>()
      for (const table of small) {
        if (table.key.length === 0)
          await query(arriving, `delete from ${table.name} where ${table.condition}`, [workspaceId])
        if (staged.tables.has(table)) {
          copied += await insertStaged({ source: leaving, target: arriving }, table, staged, workspaceId)
          continue
        }
        const { digest, count } = await eachPiece(leaving, table, { workspaceId }, async (rows) => {
          await query(arriving, insertOf(table), [rows]).catch((cause: unknown) => {
            throw new Error(`The rows of ${table.name} cannot be inserted in the target.`, { cause })
          })
        })
        copied += count
        digests.set(table, digest)
      }
      await query(arriving, 'set constraints all immediate')
      await compareSmall(arriving, digests, workspaceId)
      await query(arriving, 'update workspaces set sealed_until = null where id = $1', [workspaceId])
      await raiseSequences({ source: leaving, target: arriving }, tables, workspaceId)
      await prepare(arriving)
    })
    await leave(leaving, move)
  })
  return copied
}

/** Deletes the workspace in the source. Its captures stay until the purge. Runs in the caller's transaction. */
export async function leave(source: Db, move: Move): Promise<void> {
  await query(source, 'delete from deliveries where workspace_id = $1', [move.workspaceId])
  await query(
    source,
    'delete from attempt_bytes where endpoint_id in (select id from endpoints where workspace_id = $1)',
    [move.workspaceId],
  )
  // The table refuses every other deletion.
  await query(source, "select set_config('creel.audit_sweep', 'on', true)")
  await query(source, 'delete from audit_entries where workspace_id = $1', [move.workspaceId])
  await query(source, 'delete from workspaces where id = $1', [move.workspaceId])
  await changeMove(source, move.id, { state: 'moved' })
}

async function compareSmall(
  target: Db,
  digests: ReadonlyMap<MovedTable, string>,
  workspaceId: string,
): Promise<void> {
  for (const [table, digest] of digests) {
    if (BY_TRIGGERS.has(table.name) || table.key.length === 0) continue
    const [there] = await query<{ digest: string }>(target, `select ${digestOf(table)}`, [workspaceId])
    if (there?.digest !== digest) {
      throw new Error(
        `${table.name} has other rows in the target (${there?.digest}) than in the source (${digest}).`,
      )
    }
  }
}

/** Raises the target's sequences above every moved number, so that clients which follow by number miss nothing. */
async function raiseSequences(
  { source, target }: Pair,
  tables: readonly MovedTable[],
  workspaceId: string,
): Promise<void> {
  for (const { name, columns, condition } of tables) {
    if (!columns.includes('id')) continue
    const [found] = await query<{ sequence: string | null }>(
      target,
      name === 'requests'
        ? `select 'request_ids' as sequence`
        : `select pg_get_serial_sequence($1, 'id') as sequence`,
      name === 'requests' ? [] : [name],
    )
    const sequence = found?.sequence
    if (sequence == null) continue
    const [highest] = await query<{ id: string | null }>(
      source,
      `select max(id)::text as id from ${name} where ${condition}`,
      [workspaceId],
    )
    if (highest?.id == null) continue
    await query(
      target,
      // A sequence of a cell goes in steps that only this cell takes.
      `select setval('${sequence}', s.last_value + s.step * ceil(($1::numeric + ${SEQUENCE_GAP} * s.step - s.last_value) / s.step)::bigint)
      from (select last_value, (select seqincrement from pg_sequence where seqrelid = '${sequence}'::regclass) as step
        from ${sequence}) s
      where s.last_value <= $1::bigint`,
      [highest.id],
    )
  }
}
