import { randomUUID } from 'node:crypto'
import { codeOf, type Db, type Trx } from '../../platform/db/index.ts'
import { copyAll, copyChanged, type KeysThere, keysIn, type Pair, purgeBig } from './big.ts'
import {
  ARRIVES,
  oldestWriter,
  SEAL_SECONDS,
  SWITCH_SECONDS,
  seal,
  unseal,
  writersHaveEnded,
} from './seal.ts'
import { copySmall, wholeTables } from './small.ts'
import { changeMove, findMove, insertMove, listMoves, type Move } from './state.ts'
import { prepareSteps, runSteps } from './steps.ts'
import { beginSwitch, drawnNumbers, leave, MAY_DELETE_AUDIT, readyArrived } from './switch.ts'
import { BIG, type MovedTable, movedTables, query } from './tables.ts'

/** Rows that the last pass before the seal may have copied: then little is left for the time of the seal. */
const CALM_ROWS = 500
/** The most passes before a seal: a longer tail would be copied under it. */
const PASSES_MAX = 20
/** Timeout for transactions that write while nothing is sealed. */
const WRITERS_MS = 300_000
/** The most seals that end because such a transaction does not. */
const SEALS_MAX = 10

/** A workspace cannot be moved, for a reason that its operator can mend. */
export class MoveError extends Error {
  override readonly name = 'MoveError'
}

export interface MoveOptions {
  readonly workspace: string
  /** Name of the target's cell. */
  readonly toCell: string
  /** Queues the open work of the workspace, in the target's transaction. */
  readonly enqueueOpen: (arriving: Trx, workspaceId: string) => Promise<void>
  /** Called with what the move does. */
  readonly report: (words: string) => void
}

/**
 * Moves a workspace to another cell, or continues a move that was interrupted. Captures go on meanwhile, but for the
 * last moment. Afterwards the source's copies of its captures remain until {@link purgeMoved}.
 *
 * @param pair one connection to each cell, which the move has for itself, without a limit of time
 * @returns the move, in the state `moved`
 * @throws MoveError, and errors of the databases: then the workspace is in the source, sealed for half a minute at most,
 *   unless the state is `switching`; run it again
 */
export async function moveWorkspace(pair: Pair, options: MoveOptions): Promise<Move> {
  const { source, target } = pair
  const { workspace, report } = options
  for (const session of [source, target]) {
    await query(session, `set timezone = 'UTC'`)
    await prepareSteps(session).catch((error: unknown) => explainGrant(session, error))
  }
  const tables = await movedTables(source)
  await requireSameSchema(pair)
  await haveAlone(source, [source, target], workspace)
  const known = await findMove(source, workspace)
  if (known?.state === 'switching' && (await hasWorkspace(target, known.workspaceId))) {
    report('The target has the workspace: the source lets it go.')
    await leave(source, tables, known)
    return await reload(source, workspace)
  }
  const isUnderWay = known?.state === 'copying' || known?.state === 'switching'
  if (isUnderWay && known.toCell !== options.toCell) {
    throw new MoveError(`The workspace is on its way to ${known.toCell}. Finish or abort that move first.`)
  }
  // It was killed under its seal: captures go on until the next one.
  if (isUnderWay) await reopen(source, known)
  await requireServed(pair, options.toCell)
  const move = isUnderWay ? known : await begin(pair, options)
  const { id, progress } = move
  const first = { endpointIds: progress.endpointIds, from: progress.cursor }
  const copied = await copyAll(pair, tables.filter(isBig), first, (copiedRows, cursor) =>
    changeMove(source, id, { progress: { ...progress, cursor }, copiedRows }),
  )
  report(`Copied ${copied} rows.`)
  await arrive(pair, tables, await reload(source, workspace), options)
  return await reload(source, workspace)
}

const isBig = ({ name }: MovedTable): boolean => name in BIG

/**
 * Ends a move that did not reach the switch. The workspace stays in the source, and the target's copies are deleted.
 *
 * @param pair `target` is null if there is no such cell any more
 * @throws MoveError when no move is under way, or the target has the workspace already, or may have it and is gone
 */
export async function abortMove(
  { source, target }: Pick<Pair, 'source'> & { readonly target: Db | null },
  workspace: string,
): Promise<Move> {
  await haveAlone(source, target === null ? [source] : [source, target], workspace)
  const move = await findMove(source, workspace)
  if (move?.state !== 'copying' && move?.state !== 'switching') {
    throw new MoveError('No move of this workspace is under way.')
  }
  if (target === null && move.state === 'switching') {
    throw new MoveError(`${move.toCell} may have the workspace already: put that cell back into the file.`)
  }
  if (target !== null && (await hasWorkspace(target, move.workspaceId))) {
    throw new MoveError('The target has the workspace already: finish the move.')
  }
  await unseal(source, move.workspaceId)
  if (target !== null) await purgeBig(target, move.progress.endpointIds)
  await changeMove(source, move.id, { state: 'aborted' })
  return { ...move, state: 'aborted' }
}

/**
 * Deletes what the source still stores of a workspace that has moved.
 *
 * @throws MoveError when the workspace has not moved, has come back, or is moved now
 */
export async function purgeMoved(source: Db, workspace: string): Promise<Move> {
  // A move back counts on what it has copied: a purge beside it would delete captures that arrive.
  await haveAlone(source, [source], workspace)
  const move = await findMove(source, workspace)
  if (move?.state !== 'moved') throw new MoveError('This workspace has not moved, or was purged already.')
  if (await hasWorkspace(source, move.workspaceId)) {
    throw new MoveError('The workspace has come back to this cell: there is nothing to purge.')
  }
  await purgeBig(source, move.progress.endpointIds)
  await changeMove(source, move.id, { state: 'purged' })
  return { ...move, state: 'purged' }
}

/** `insufficient_privilege` */
const NO_GRANT = '42501'

/** @throws MoveError with the statement that a role lacks, else the error */
async function explainGrant(session: Db, cause: unknown): Promise<never> {
  if (codeOf(cause) !== NO_GRANT) throw cause
  const text = `select format('grant temporary on database %I to %I', current_database(), current_user) as missing`
  const [row] = await query<{ missing: string }>(session, text)
  throw new MoveError(
    `A move needs a temporary function in each cell. Let the owner of the database run: ${row?.missing};`,
    { cause },
  )
}

/** Time for which a command waits until PostgreSQL has ended the sessions of one that was killed. */
const FORMER_MS = 20_000

/**
 * Waits until no other session moves the workspace from or to these cells, so that no commit of one is in doubt, and
 * keeps others out until the sessions end.
 *
 * @throws MoveError when another command moves it
 */
async function haveAlone(source: Db, sessions: readonly Db[], workspace: string): Promise<void> {
  const found = await findWorkspace(source, workspace)
  const name = `creel move ${(await findMove(source, workspace))?.workspaceId ?? found?.id}`
  for (const db of sessions) {
    await query(db, `set lock_timeout = ${FORMER_MS}`)
    await query(db, 'select pg_advisory_lock(hashtextextended($1, 0))', [name]).catch((cause: unknown) => {
      throw new MoveError('Another command moves this workspace now.', { cause })
    })
    await query(db, 'set lock_timeout = 0')
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
  const found = await findWorkspace(source, workspace)
  if (found === undefined) throw new MoveError(`There is no workspace "${workspace}" in the source.`)
  const { id: workspaceId, name } = found
  const [taken] = await query(target, 'select from workspaces where name = $1 or id = $2', [
    name,
    workspaceId,
  ])
  if (taken !== undefined) throw new MoveError(`${toCell} has a workspace with the name "${name}" already.`)
  await purgeStay(target, workspaceId)
  const id = randomUUID()
  const since = await oldestWriter(source)
  const progress = { since, endpointIds: await endpointsOf(source, workspaceId), cursor: null }
  await insertMove(source, { id, workspaceId, workspaceName: name, toCell, progress })
  return await reload(source, workspace)
}

/**
 * Deletes what a cell still has of an earlier stay of a workspace that comes back. Endpoints may have been deleted since,
 * whose captures nothing would delete later.
 */
async function purgeStay(target: Db, workspaceId: string): Promise<void> {
  const moves = (await listMoves(target)).filter((one) => one.workspaceId === workspaceId)
  for (const { id, state, progress } of moves) {
    if (state !== 'moved') continue
    await purgeBig(target, progress.endpointIds)
    await changeMove(target, id, { state: 'purged' })
  }
}

const inSnapshot = async <Result>(source: Db, work: (snapshot: Db) => Promise<Result>): Promise<Result> =>
  await source.transaction().setIsolationLevel('repeatable read').execute(work)

async function endpointsOf(db: Db, workspaceId: string): Promise<readonly string[]> {
  const text = 'select id::text from endpoints where workspace_id = $1 order by id'
  return (await query<{ id: string }>(db, text, [workspaceId])).map(({ id }) => id)
}

/** Progress of the transaction that brings a workspace to the target. */
interface Arrival {
  readonly pair: Pair
  readonly big: readonly MovedTable[]
  readonly small: readonly MovedTable[]
  readonly whole: Set<MovedTable>
  readonly workspaceId: string
  readonly keys: KeysThere
  /** Endpoints of which the target may have rows. */
  readonly known: Set<string>
  /** See `writtenSince`; null before the small tables are copied. */
  since: { readonly big: string; readonly small: string | null }
}

/**
 * Copies what has changed since the last pass. Rows of endpoints that are gone are deleted in the target.
 *
 * @returns the number of copied rows
 */
async function copyPass(arrival: Arrival, { isLast }: { readonly isLast: boolean }): Promise<number> {
  const { pair, big, small, whole, workspaceId, keys, known, since } = arrival
  const next = await oldestWriter(pair.source)
  return await inSnapshot(pair.source, async (source) => {
    const both = { source, target: pair.target }
    const endpointIds = await endpointsOf(source, workspaceId)
    const present = new Set(endpointIds)
    const gone = [...known].filter((id) => !present.has(id))
    await purgeBig(pair.target, gone)
    for (const id of gone) known.delete(id)
    for (const id of present) known.add(id)
    const ofBig = await copyChanged(both, big, { endpointIds, workspaceId, since: since.big, there: keys })
    const ofSmall = await copySmall(both, small, { workspaceId, since: since.small, isLast, whole })
    arrival.since = { big: next, small: next }
    return ofBig + ofSmall
  })
}

/**
 * Brings the workspace to the target in one transaction, which begins before the seal: first all that is small, then
 * what has changed; under the seal only the last of it. Then the source lets the workspace go.
 */
async function arrive(
  pair: Pair,
  tables: readonly MovedTable[],
  move: Move,
  { enqueueOpen, report }: MoveOptions,
): Promise<void> {
  const { source, target } = pair
  const { workspaceId, progress } = move
  let sealedAt = 0
  let late = 0
  try {
    await target.transaction().execute(async (arriving) => {
      await runSteps(arriving, workspaceId, [ARRIVES, MAY_DELETE_AUDIT])
      const [big, small] = [tables.filter(isBig), tables.filter((table) => !isBig(table))]
      const arrival: Arrival = {
        pair: { source, target: arriving },
        big,
        small,
        whole: wholeTables(small),
        workspaceId,
        keys: await keysIn(arriving, big, progress.endpointIds),
        known: new Set(progress.endpointIds),
        since: { big: progress.since, small: null },
      }
      await copyPass(arrival, { isLast: false })
      sealedAt = await sealWhenCalm(arrival, tables, report)
      late = await copyPass(arrival, { isLast: true })
      const drawn = await drawnNumbers(source, tables)
      const endpointIds = [...new Set([...progress.endpointIds, ...arrival.known])]
      await beginSwitch(source, { ...move, progress: { ...progress, endpointIds } }, sealedAt)
      await readyArrived(arriving, workspaceId, drawn)
      await enqueueOpen(arriving, workspaceId)
    })
    await leave(source, tables, move)
  } catch (error) {
    // Only if the target does not have it: a commit may have arrived although its answer did not.
    if (await hasWorkspace(target, workspaceId).catch(() => true)) throw error
    await reopen(source, move)
    throw error
  }
  const sealedMs = Math.round(performance.now() - sealedAt)
  await changeMove(source, move.id, { sealedMs, copiedRows: late })
  report(`Moved. The workspace was sealed for ${sealedMs} ms, in which ${late} rows were copied.`)
}

/**
 * Seals the workspace at a moment when little is left to copy, and no transaction writes for long.
 *
 * @returns when the seal began
 */
async function sealWhenCalm(
  arrival: Arrival,
  tables: readonly MovedTable[],
  report: MoveOptions['report'],
): Promise<number> {
  const { source } = arrival.pair
  for (let tries = 0; tries < SEALS_MAX; tries += 1) {
    if (!(await writersHaveEnded(source, tables, WRITERS_MS))) break
    let passAt = performance.now()
    for (let pass = 1; (await copyPass(arrival, { isLast: false })) > CALM_ROWS; pass += 1) {
      if (pass === PASSES_MAX)
        throw new MoveError('The workspace changes as fast as it is copied. Run it again when less arrives.')
      passAt = performance.now()
    }
    const startedAt = performance.now()
    const passSeconds = Math.round((startedAt - passAt) / 1000)
    // Each pass looks at every row. The last one would take as long under the seal, and senders would be refused for nothing.
    if (passSeconds >= SEAL_SECONDS - SWITCH_SECONDS)
      throw new MoveError(
        `A look at all rows of the workspace takes ${passSeconds} s, longer than it may be sealed. Run it again when the cells have less to do, or the workspace stores less.`,
      )
    if (await seal(source, arrival.workspaceId, tables)) return startedAt
    report('Unsealed again: a transaction that began before does not end yet.')
  }
  throw new Error('Transactions that write in the source do not end: look at pg_stat_activity.')
}

/** A workspace by its id or name. */
async function findWorkspace(source: Db, workspace: string) {
  const text = 'select id, name from workspaces where id::text = $1 or name = $1'
  const [found] = await query<{ id: string; name: string }>(source, text, [workspace])
  return found
}

async function hasWorkspace(db: Db, workspaceId: string): Promise<boolean> {
  return (await query(db, 'select from workspaces where id = $1', [workspaceId])).length > 0
}

async function requireSameSchema({ source, target }: Pair): Promise<void> {
  const text = 'select string_agg(name, $1 order by name) as names from kysely_migration'
  const [one, two] = await Promise.all(
    [source, target].map((db) => query<{ names: string }>(db, text, [','])),
  )
  if (one?.[0]?.names === two?.[0]?.names) return
  throw new MoveError('The cells have different schemas. Run `creel migrate --all` first.')
}

/** A gateway that runs sends a heartbeat every ten seconds. It is late in the target where that is slow. */
const BEAT_SECONDS = { source: 25, target: 120 }

/** @throws MoveError when a gateway would answer 404 to the senders of the workspace */
async function requireServed({ source, target }: Pair, toCell: string): Promise<void> {
  const text = `select gateway_id::text as id from gateway_heartbeats
    where beat_at > clock_timestamp() - $1::int * interval '1 s'`
  const here = await query<{ id: string }>(source, text, [BEAT_SECONDS.source])
  const there = await query<{ id: string }>(target, text, [BEAT_SECONDS.target])
  if (here.every(({ id }) => there.some((one) => one.id === id))) return
  throw new MoveError(
    `A gateway does not serve ${toCell}: restart the programs that began before the cell was added. One that has just ended counts for ${BEAT_SECONDS.source} s.`,
  )
}
