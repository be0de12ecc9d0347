import type { Db, Trx } from '../../platform/db/index.ts'
import { SEAL_SECONDS, SWITCH_SECONDS } from './seal.ts'
import type { Move } from './state.ts'
import { deletingAll, runSteps, type Step } from './steps.ts'
import { BIG, type MovedTable, query } from './tables.ts'

/** Numbers that a sequence is set beyond the highest moved one, so that numbers drawn meanwhile do not meet it. */
const SEQUENCE_GAP = 1_000_000

/** The step that lets a transaction delete audit entries, which their table refuses else. */
export const MAY_DELETE_AUDIT: Step = { text: `select to_json(set_config('creel.audit_sweep', 'on', true))` }

/**
 * Seals the workspace in the source until the target has it. If the process ends in between, the state `switching` and
 * the target tell which cell has it.
 *
 * @param sealedAt when the seal began, by `performance.now`
 * @throws Error when the seal is too old
 */
export async function beginSwitch(
  source: Db,
  { id, workspaceId, progress }: Move,
  sealedAt: number,
): Promise<void> {
  const [sealed] = await query<{ id: string }>(
    source,
    `with sealed as (
      update workspaces set sealed_until = 'infinity'
      where id = $1 and sealed_until > clock_timestamp() + interval '${SWITCH_SECONDS} s' returning id
    )
    update workspace_moves m set state = 'switching', progress = $3, changed_at = clock_timestamp() from sealed
    where m.id = $2 returning m.id`,
    [workspaceId, id, JSON.stringify(progress)],
  )
  // A server that stops within the statement may seal again after the end of the seal: captures were stored in between.
  const hasEnded = performance.now() - sealedAt > SEAL_SECONDS * 1000
  if (sealed === undefined || hasEnded) throw new Error('The seal took too long.')
}

/** A sequence, and the last number that the source drew from it. */
interface Drawn {
  readonly sequence: string
  readonly last: string
}

/**
 * Reads the last number of each sequence that the source has drawn from, once the workspace is sealed. The highest rows
 * would not do: they may have been deleted, and clients and counters know of them.
 */
export async function drawnNumbers(source: Db, tables: readonly MovedTable[]): Promise<readonly Drawn[]> {
  return await query<Drawn>(
    source,
    `select s.name as sequence, pg_sequence_last_value(s.name::regclass)::text as last
    from unnest($1::text[]) s (name) where pg_sequence_last_value(s.name::regclass) is not null`,
    [tables.flatMap(({ sequence }) => sequence ?? [])],
  )
}

/**
 * Readies the workspace in the target, in the transaction with which it arrives: unseals it, and raises the sequences
 * above every number that it had in the source, so that clients which follow by number miss nothing.
 */
export async function readyArrived(
  arriving: Trx,
  workspaceId: string,
  drawn: readonly Drawn[],
): Promise<void> {
  const raises = drawn.map(({ sequence, last }): Step => {
    // A sequence of a cell goes in steps that only this cell takes.
    return {
      text: `select to_json(setval('${sequence}', s.last_value + s.step * ceil((${BigInt(last)}::numeric + ${SEQUENCE_GAP} * s.step - s.last_value) / s.step)::bigint))
          from (select last_value, (select seqincrement from pg_sequence where seqrelid = '${sequence}'::regclass) as step
            from ${sequence}) s
          where s.last_value <= ${BigInt(last)}`,
    }
  })
  await runSteps(arriving, workspaceId, [
    { text: 'set constraints all immediate' },
    { text: 'update workspaces set sealed_until = null where id = $1' },
    ...raises,
  ])
}

/** Deletes the workspace in the source. Its captures stay until the purge. */
export async function leave(source: Db, tables: readonly MovedTable[], move: Move): Promise<void> {
  const small = tables.filter(({ name }) => !(name in BIG))
  await runSteps(source, move.workspaceId, [
    MAY_DELETE_AUDIT,
    ...small.toReversed().map(deletingAll),
    {
      text: `update workspace_moves set state = 'moved', changed_at = clock_timestamp() where id = '${move.id}'`,
    },
  ])
}
