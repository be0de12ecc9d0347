import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Db, Trx } from '../../platform/db/index.ts'
import { type Cursor, compareBig, copyBig, oldestTransaction, type Pair } from './copy.ts'
import { seal, unseal } from './seal.ts'
import { type Staged, stage, unstage } from './stage.ts'
import { changeMove, findMove, insertMove, type Move, type Progress } from './state.ts'
import { leave, switchCells } from './switch.ts'
import { BIG, type MovedTable, movedTables, query } from './tables.ts'

/** Rows that the last pass before the seal may have copied: then little is left for the time of the seal. */
const CALM_ROWS = 500
/** The most passes before the seal. */
const PASSES_MAX = 10

/** A workspace cannot be moved, for a reason that its operator can mend. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}

export interface MoveOptions {
  readonly workspace: string
  /** Name of the target's cell. */
  readonly toCell: string
  /** Queues the open deliveries of the workspace, in the target's transaction. */
  readonly enqueueOpen: (arriving: Trx, workspaceId: string) => Promise<void>
  /** Called with what the move does. */
  readonly report: (words: string) => void
}

/**
 * Moves a workspace to another cell, or continues a move that was interrupted. Captures go on meanwhile, but for the
 * last moment. Afterwards the source's copies of its captures remain until {@link purgeMoved}.
 *
 * @param pair one connection to each cell, which the move has for itself
 * @returns the move, in the state `moved`
 * @throws MoveError, and errors of the databases: then the workspace is in the source, sealed for half a minute at most,
 *   unless the state is `switching`; run it again
 */
export async function moveWorkspace(pair: Pair, options: MoveOptions): Promise<Move> {
  const { source, target } = pair
  const { workspace, report } = options
  for (const session of [source, target]) await query(session, `set timezone = 'UTC'`)
  const tables = await movedTables(source)
  await requireSameSchema(pair)
  await haveAlone(pair, workspace)
  const known = await findMove(source, workspace)
  if (known?.state === 'switching' && (await hasWorkspace(target, known.workspaceId))) {
    report('The target has the workspace: the source lets it go.')
    await source.transaction().execute((leaving) => leave(leaving, known))
    await unstage(target, known.workspaceId)
    return await reload(source, workspace)
  }
  const isUnderWay = known?.state === 'copying' || known?.state === 'switching'
  if (isUnderWay && known.toCell !== options.toCell) {
    throw new MoveError(`The workspace is on its way to ${known.toCell}. Finish or abort that move first.`)
  }
  // It was killed in the switch, which the target has not committed: captures go on until the next one.
  if (known?.state === 'switching') await reopen(source, known)
  const move = isUnderWay ? known : await begin(pair, options)
  const big = tables.filter(({ name }) => name in BIG)
  await copyLive(pair, big, move, report)
  const staged = await stage(pair, tables, move.workspaceId)
  await sealAndSwitch(pair, { tables, big, staged }, move, options)
  await unstage(target, move.workspaceId)
  return await reload(source, workspace)
}

/**
 * Ends a move that did not reach the switch. The workspace stays in the source, and the target's copies are deleted.
 *
 * @throws MoveError when no move is under way, or the target has the workspace already
 */
export async function abortMove(pair: Pair, workspace: string): Promise<Move> {
  const { source, target } = pair
  await haveAlone(pair, workspace)
  const move = await findMove(source, workspace)
  if (move?.state !== 'copying' && move?.state !== 'switching') {
    throw new MoveError('No move of this workspace is under way.')
  }
  if (await hasWorkspace(target, move.workspaceId)) {
    throw new MoveError('The target has the workspace already: finish the move.')
  }
  await unseal(source, move.workspaceId)
  await unstage(target, move.workspaceId)
  await purgeBig(target, move.progress.endpointIds)
  await changeMove(source, move.id, { state: 'aborted' })
  return { ...move, state: 'aborted' }
}

/**
 * Deletes what the source still stores of a workspace that has moved.
 *
 * @throws MoveError when the workspace has not moved, or has come back
 */
export async function purgeMoved(source: Db, workspace: string): Promise<Move> {
  const move = await findMove(source, workspace)
  if (move?.state !== 'moved') throw new MoveError('This workspace has not moved, or was purged already.')
  if (await hasWorkspace(source, move.workspaceId)) {
    throw new MoveError('The workspace has come back to this cell: there is nothing to purge.')
  }
  await purgeBig(source, move.progress.endpointIds)
  await changeMove(source, move.id, { state: 'purged' })
  return { ...move, state: 'purged' }
}

/** Time for which a command waits until PostgreSQL has ended the sessions of one that was killed. */
const FORMER_MS = 20_000

/**
 * Waits until no other session moves the workspace, so that no commit of one is in doubt, and keeps others out until
 * this session ends.
 *
 * @throws MoveError when another command moves it
 */
async function haveAlone({ source, target }: Pair, workspace: string): Promise<void> {
  const [found] = await query<{ id: string }>(
    source,
    'select id::text as id from workspaces where id::text = $1 or name = $1',
    [workspace],
  )
  const name = `creel move ${(await findMove(source, workspace))?.workspaceId ?? found?.id}`
  for (const db of [source, target]) {
    for (const deadline = performance.now() + FORMER_MS; ; ) {
      const [row] = await query<{ isAlone: boolean }>(
        db,
        'select pg_try_advisory_lock(hashtextextended($1, 0)) as "isAlone"',
        [name],
      )
      if (row?.isAlone === true) break
      if (performance.now() > deadline) throw new MoveError('Another command moves this workspace now.')
      await pause(100)
    }
  }
}

async function reopen(source: Db, { id, workspaceId }: Move): Promise<void> {
  await unseal(source, workspaceId)
  await changeMove(source, id, { state: 'copying' })
}

async function reload(source: Db, workspace: string): Promise<Move> {
  const move = await findMove(source, workspace)
  if (move === undefined) throw new Error('The move has gone.')
  return move
}

async function begin({ source, target }: Pair, { workspace, toCell }: MoveOptions): Promise<Move> {
  const [found] = await query<{ id: string; name: string }>(
    source,
    'select id, name from workspaces where id::text = $1 or name = $1',
    [workspace],
  )
  if (found === undefined) throw new MoveError(`There is no workspace "${workspace}" in the source.`)
  const [taken] = await query(target, 'select from workspaces where name = $1 or id = $2', [
    found.name,
    found.id,
  ])
  if (taken !== undefined)
    throw new MoveError(`${toCell} has a workspace with the name "${found.name}" already.`)
  const since = await oldestTransaction(source)
  const endpointIds = await endpointsOf(source, found.id)
  const id = randomUUID()
  const progress = { endpointIds, since, cursor: null }
  await insertMove(source, { id, workspaceId: found.id, workspaceName: found.name, toCell, progress })
  return await reload(source, workspace)
}

/** Copies while captures go on: everything first, then what has changed, until little is left. */
async function copyLive(
  pair: Pair,
  big: readonly MovedTable[],
  move: Move,
  report: MoveOptions['report'],
): Promise<void> {
  let { since, endpointIds } = move.progress
  const first = await copyBig(
    pair,
    big,
    { endpointIds, pass: { since: null, isLast: false }, from: move.progress.cursor },
    (rows, cursor) => saveProgress(pair.source, move, { ...move.progress, cursor }, rows),
  )
  report(`Copied ${first} rows.`)
  for (let pass = 1; pass < PASSES_MAX; pass += 1) {
    const next = await oldestTransaction(pair.source)
    const { present, known } = await endpointsNow(pair, move, { endpointIds, since, cursor: END })
    endpointIds = known
    const copied = await copyBig(
      pair,
      big,
      { endpointIds: present, pass: { since, isLast: false }, from: null },
      (rows, cursor) => saveProgress(pair.source, move, { endpointIds, since, cursor }, rows),
    )
    since = next
    await changeMove(pair.source, move.id, { progress: { endpointIds, since, cursor: END } })
    if (copied <= CALM_ROWS) break
    report(`Copied ${copied} more that came or changed meanwhile.`)
  }
  // Little is left to compare, then, for the time of the seal.
  await compareBig(pair, big, { endpointIds, isLast: false })
}

/**
 * The endpoints that are there now, and all that have been since the move began. Rows of the others are deleted in the
 * target. New ones are noted before anything of them is copied, so that an abort finds it.
 */
async function endpointsNow({ source, target }: Pair, move: Move, progress: Progress) {
  const present = await endpointsOf(source, move.workspaceId)
  const known = [...new Set([...progress.endpointIds, ...present])]
  if (known.length > progress.endpointIds.length)
    await changeMove(source, move.id, { progress: { ...progress, endpointIds: known } })
  const isPresent = new Set(present)
  await purgeBig(
    target,
    known.filter((id) => !isPresent.has(id)),
  )
  return { present, known }
}

/** A cursor after which the first pass has nothing left. */
const END: Cursor = { table: '', endpointId: '', after: null }

async function saveProgress(
  source: Db,
  { id }: Move,
  progress: Move['progress'],
  copiedRows: number,
): Promise<void> {
  await changeMove(source, id, { progress, copiedRows })
}

async function sealAndSwitch(
  pair: Pair,
  {
    tables,
    big,
    staged,
  }: { readonly tables: readonly MovedTable[]; readonly big: readonly MovedTable[]; readonly staged: Staged },
  begun: Move,
  { workspace, enqueueOpen, report }: MoveOptions,
): Promise<void> {
  const move = await reload(pair.source, workspace)
  const startedAt = performance.now()
  let late = 0
  try {
    await seal(pair.source, move.workspaceId)
    const { present: endpointIds, known } = await endpointsNow(pair, move, move.progress)
    const pass = { since: move.progress.since, isLast: true }
    // One snapshot: an attempt that ends only now is made again from the target, and must not differ halfway.
    const tail = await pair.source
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (snapshot) => {
        const still = { source: snapshot, target: pair.target }
        const copied = await copyBig(still, big, { endpointIds, pass, from: null }, async () => undefined)
        await compareBig(still, big, { endpointIds, isLast: true })
        return copied
      })
    await changeMove(pair.source, begun.id, {
      progress: { ...move.progress, endpointIds: known },
      copiedRows: tail,
    })
    const prepare = (arriving: Trx) => enqueueOpen(arriving, move.workspaceId)
    late = tail + (await switchCells(pair, { tables, staged }, move, prepare))
  } catch (error) {
    // Only if the target does not have it: a commit may have arrived although its answer did not.
    if (await hasWorkspace(pair.target, move.workspaceId).catch(() => true)) throw error
    await reopen(pair.source, move)
    throw error
  }
  const sealedMs = Math.round(performance.now() - startedAt)
  await changeMove(pair.source, begun.id, { sealedMs })
  report(`Moved. The workspace was sealed for ${sealedMs} ms, in which ${late} rows were copied.`)
}

async function endpointsOf(source: Db, workspaceId: string): Promise<readonly string[]> {
  const rows = await query<{ id: string }>(
    source,
    'select id from endpoints where workspace_id = $1 order by id',
    [workspaceId],
  )
  return rows.map(({ id }) => id)
}

async function hasWorkspace(db: Db, workspaceId: string): Promise<boolean> {
  return (await query(db, 'select from workspaces where id = $1', [workspaceId])).length > 0
}

/** Rows that one statement of a purge deletes. */
const PURGE_ROWS = 5_000

async function purgeBig(db: Db, endpointIds: readonly string[]): Promise<void> {
  for (const [table, { key }] of Object.entries(BIG)) {
    for (const endpointId of endpointIds) {
      for (;;) {
        const [{ count } = { count: 0 }] = await query<{ count: number }>(
          db,
          `with gone as (
            delete from ${table} where endpoint_id = $1 and ${key} in (
              select ${key} from ${table} where endpoint_id = $1 order by ${key} limit ${PURGE_ROWS})
            returning 1
          ) select count(*)::int as count from gone`,
          [endpointId],
        )
        if (count < PURGE_ROWS) break
      }
    }
  }
}

async function requireSameSchema({ source, target }: Pair): Promise<void> {
  const text = 'select string_agg(name, $1 order by name) as names from kysely_migration'
  const [one, two] = await Promise.all([
    query<{ names: string }>(source, text, [',']),
    query<{ names: string }>(target, text, [',']),
  ])
  if (one[0]?.names === two[0]?.names) return
  throw new MoveError('The cells have different schemas. Run `creel migrate --all` first.')
}
