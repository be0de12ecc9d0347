import type { Selectable } from 'kysely'
import type { Db, WorkspaceMovesTable } from '../../platform/db/index.ts'
import type { Cursor } from './big.ts'
import { query } from './tables.ts'

/** Progress of the first pass. */
export interface Progress {
  readonly endpointIds: readonly string[]
  /** See `writtenSince`, when the first pass began. */
  readonly since: string
  readonly cursor: Cursor | null
}

/**
 * A move out of a cell, as its source keeps it. `sealedMs`: time for which the workspace was sealed; null before the switch.
 *
 * `copying`: the workspace is in the source. `switching`: it is sealed, and is in the target if the target has it.
 * `moved`: it is in the target, and its captures are still stored in the source, too. `purged`: they are not. `aborted`:
 * it stayed.
 */
export interface Move extends Readonly<Omit<Selectable<WorkspaceMovesTable>, 'progress'>> {
  readonly progress: Progress
}

const COLUMNS = `id, workspace_id as "workspaceId", workspace_name as "workspaceName", to_cell as "toCell", state,
  progress::json as progress, copied_rows as "copiedRows", started_at as "startedAt", changed_at as "changedAt",
  sealed_ms as "sealedMs"`

/** Moves out of a cell, newest first. */
export async function listMoves(source: Db): Promise<readonly Move[]> {
  return await query<Move>(source, `select ${COLUMNS} from workspace_moves order by started_at desc`)
}

/** The newest move of a workspace, by its id or name, that did not end by an abort. */
export async function findMove(source: Db, workspace: string): Promise<Move | undefined> {
  const [move] = await query<Move>(
    source,
    `select ${COLUMNS} from workspace_moves
    where (workspace_id::text = $1 or workspace_name = $1) and state <> 'aborted' order by started_at desc limit 1`,
    [workspace],
  )
  return move
}

export async function insertMove(
  source: Db,
  move: Pick<Move, 'id' | 'workspaceId' | 'workspaceName' | 'toCell' | 'progress'>,
): Promise<void> {
  await query(
    source,
    `insert into workspace_moves (id, workspace_id, workspace_name, to_cell, state, progress, started_at, changed_at)
    values ($1, $2, $3, $4, 'copying', $5, clock_timestamp(), clock_timestamp())`,
    [move.id, move.workspaceId, move.workspaceName, move.toCell, JSON.stringify(move.progress)],
  )
}

type MoveChange = Partial<Pick<Move, 'state' | 'progress' | 'copiedRows' | 'sealedMs'>>

/** Notes what a move has done. `copiedRows` are added. */
export async function changeMove(source: Db, id: string, change: MoveChange): Promise<void> {
  await query(
    source,
    `update workspace_moves set state = coalesce($2, state), progress = coalesce($3, progress),
      copied_rows = copied_rows + $4, sealed_ms = coalesce($5, sealed_ms), changed_at = clock_timestamp()
    where id = $1`,
    [
      id,
      change.state ?? null,
      change.progress === undefined ? null : JSON.stringify(change.progress),
      change.copiedRows ?? 0,
      change.sealedMs ?? null,
    ],
  )
}
