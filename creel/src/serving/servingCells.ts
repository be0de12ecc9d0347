import { setTimeout as sleep } from 'node:timers/promises'
import { checkDatabase, type OpenDatabase, openDatabase } from '@creel/core'
import { isDatabaseOutage, SEARCH_CONNECTIONS } from '@creel/core/platform/db'
import { within } from '@creel/core/platform/time'
import { migrationState } from '@creel/migrations'
import type { Logger } from 'pino'
import type { Config } from '../config/index.ts'
import { type Connected, connectAsOwner } from '../database/index.ts'
import { connectionsEach } from '../gateways/index.ts'
import type { GatewayProcesses, RunningService } from '../service/index.ts'
import { StartupError, wordsOf } from '../startupError.ts'

/** Interval of looks at an open cell, and of attempts to open one. */
const LOOK_MS = 1_000
const OPEN_MS = 2_000
/** Maximum wait of a start for any cell. */
const WAIT_MS_MAX = 30_000
/** Time without an answer after which a database hangs: longer than that of an overloaded one. */
const HANGS_MS = 10_000
const HANGS = { fault: new Error(`The database did not answer within ${HANGS_MS} ms.`), reached: false }

export interface CellsOptions {
  readonly log: Logger
  readonly processes: GatewayProcesses | undefined
}

interface OpenCell {
  readonly connected: Connected
  readonly replica: OpenDatabase | undefined
}

export interface HomeCell {
  readonly config: Config
  readonly connected: Connected
}

export interface KeptCells {
  /** Ends the looks, before the service stops. */
  stop(): Promise<void>
  /** Closes the databases, after the service has stopped. */
  close(): Promise<void>
}

/** A cell cannot be served by this program, for a reason that its operator must mend. */
class WrongSchema extends StartupError {
  constructor(readonly state: 'needs creel migrate' | 'newer than this program') {
    super(
      state === 'newer than this program'
        ? 'A newer version of creel has migrated this cell. Run that version.'
        : 'The cell has pending migrations. Run `creel migrate --all` first.',
    )
  }
}

/**
 * Connects to the first cell that answers and whose schema fits: the home, on which the service starts. While all servers
 * are out of reach, as after a power failure, it waits up to 30 s.
 *
 * @throws StartupError naming the fault of every cell, when there is none
 */
export async function connectHome(configs: readonly Config[], options: CellsOptions): Promise<HomeCell> {
  const deadline = performance.now() + WAIT_MS_MAX
  for (let hasWaited = false; ; hasWaited = true) {
    const faults: unknown[] = []
    for (const config of configs) {
      try {
        return { config, connected: await connectCell(config, options) }
      } catch (error) {
        faults.push(error)
      }
    }
    if (faults.some(isFault) || performance.now() > deadline) {
      const words = faults.map((fault, index) => `${configs[index]?.cell?.name}: ${wordsOf(fault)}`)
      throw new StartupError(`No cell can be opened. ${words.join(' ')}`)
    }
    if (!hasWaited) options.log.warn('waiting for a cell')
    await sleep(OPEN_MS)
  }
}

/** Whether an error is one that does not pass by waiting. */
const isFault = (error: unknown) => error instanceof StartupError && !isDatabaseOutage(error.cause)

async function connectCell(config: Config, { log, processes }: CellsOptions): Promise<Connected> {
  const share = shareOfProcess(config, processes)
  const connected = await connectAsOwner({
    config,
    log,
    runtime: undefined,
    maxConnections: share.database,
    searchConnections: share.searches,
    waits: false,
  })
  try {
    const { pending, unknown } = await migrationState(connected.database.db)
    if (unknown.length > 0) throw new WrongSchema('newer than this program')
    if (pending.length > 0) throw new WrongSchema('needs creel migrate')
    return connected
  } catch (error) {
    await connected.close()
    throw error
  }
}

/**
 * Serves the other cells, too, and notes which are reached, until it is stopped. A cell that cannot be opened is tried
 * again every two seconds; the log says why, once for each reason.
 */
export function keepCells(
  service: RunningService,
  { home, others }: { readonly home: HomeCell; readonly others: readonly Config[] },
  options: CellsOptions,
): KeptCells {
  const stopping = new AbortController()
  const open = new Set<OpenCell>()
  const wait = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined)

  const openCell = async (config: Config): Promise<Connected | undefined> => {
    const place = config.cell
    if (place === null) return undefined
    let reason = ''
    while (!stopping.signal.aborted) {
      try {
        const connected = await connectCell(config, options)
        const cell = { connected, replica: openReplica(config, options.processes) }
        try {
          const { database, url: databaseUrl } = connected
          await service.addCell({ cell: place, database, databaseUrl, replica: cell.replica })
        } catch (error) {
          await closeCell(cell)
          throw error
        }
        open.add(cell)
        options.log.info({ cell: place.name }, 'a cell is open')
        return connected
      } catch (error) {
        const words = wordsOf(error)
        if (words !== reason) options.log.warn({ cell: place.name, err: error }, 'a cell is left out')
        reason = words
        service.noteCell(
          place,
          error instanceof WrongSchema ? error.state : isFault(error) ? 'refused' : 'out of reach',
        )
        await wait(OPEN_MS)
      }
    }
    return undefined
  }

  const look = async (config: Config, database: OpenDatabase) => {
    const place = config.cell
    if (place === null) return
    let isReached: boolean | undefined
    while (!stopping.signal.aborted) {
      // A slow answer is an answer: only a database without connections, or one that hangs, is out of reach.
      const checked = checkDatabase(database.db).then(
        () => ({ fault: undefined, reached: true }),
        (fault: unknown) => ({ fault, reached: !isDatabaseOutage(fault) }),
      )
      const { fault, reached } = (await within(checked, HANGS_MS)) ?? HANGS
      if (reached !== isReached) {
        service.noteCell(place, reached ? 'ok' : 'out of reach')
        if (!reached) options.log.warn({ cell: place.name, err: fault }, 'a cell is out of reach')
        else if (isReached === false) options.log.info({ cell: place.name }, 'a cell is reached again')
      }
      isReached = reached
      await wait(LOOK_MS)
    }
  }

  const loops = others.map(async (config) => {
    const connected = await openCell(config)
    if (connected !== undefined) await look(config, connected.database)
  })
  loops.push(look(home.config, home.connected.database))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
    async close() {
      await Promise.all([...open].map(closeCell))
    },
  }
}

async function closeCell({ connected, replica }: OpenCell): Promise<void> {
  await replica?.close()
  await connected.close()
}

/** Database connections of this process. */
export function shareOfProcess(config: Config, processes: GatewayProcesses | undefined) {
  return connectionsEach(
    {
      database: config.CREEL_DATABASE_CONNECTIONS,
      searches: SEARCH_CONNECTIONS,
      queue: config.CREEL_QUEUE_CONNECTIONS,
    },
    processes?.counts.processes ?? 1,
  )
}

/** Opens the replica for lists and searches; undefined if none is configured. */
export function openReplica(
  config: Config,
  processes: GatewayProcesses | undefined,
): OpenDatabase | undefined {
  if (config.CREEL_DATABASE_READ_URL === undefined) return undefined
  const share = shareOfProcess(config, processes)
  return openDatabase(config.CREEL_DATABASE_READ_URL, share.database, share.searches)
}
