import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { Client } from 'pg'
import { processStat, TICKS_A_SECOND } from '../../scripts/processes.ts'

/**
 * Processor time of all threads of processes so far, in microseconds. Much steadier than rates: other work on the
 * machine makes a run longer, but adds little processor time. Linux only.
 *
 * @param pids processes that have ended count 0
 */
export async function cpuMicroseconds(pids: readonly number[]): Promise<number> {
  const used = await Promise.all(pids.map(ofProcess))
  return used.reduce((sum, one) => sum + one, 0)
}

async function ofProcess(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const used = await Promise.all(threads.map((thread) => ofThread(`/proc/${pid}/task/${thread}/schedstat`)))
  return used.reduce((sum, one) => sum + one, 0)
}

/** Processor time of a thread, from its schedstat, whose first number is in nanoseconds. */
async function ofThread(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '0')
  return Number(text.split(' ', 1)[0]) / 1000
}

/**
 * Processor time, in microseconds, of all processes that a PostgreSQL on this machine has and had, sessions that have
 * ended included: a pool opens sessions for a burst, and ends them when they have been idle.
 *
 * @param postmaster see {@link postmasterOf}
 */
export async function postgresMicroseconds(postmaster: number): Promise<number> {
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
  const running = [postmaster, ...children.split(' ').filter(Boolean).map(Number)]
  const { endedTicks } = processStat(postmaster)
  return (await cpuMicroseconds(running)) + endedTicks * (1_000_000 / TICKS_A_SECOND)
}

/** The first process of a PostgreSQL on this machine, which starts all others. */
export async function postmasterOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return processStat(rows[0]?.pid ?? 0).parent
  } finally {
    await client.end()
  }
}

/** Time of all processors since the start of the machine, in milliseconds. */
export interface ProcessorTimes {
  readonly idle: number
  /** Time that the host of a virtual machine used for others. Part of no other figure; 0 where it cannot be read. */
  readonly stolen: number
  readonly all: number
}

/** Reads the time of all processors so far. */
export function processorTimes(): ProcessorTimes {
  const times = cpus().map((cpu) => cpu.times)
  return {
    idle: times.reduce((sum, one) => sum + one.idle, 0),
    stolen: stolenMilliseconds(),
    all: times.reduce((sum, one) => sum + one.user + one.nice + one.sys + one.irq + one.idle, 0),
  }
}

function stolenMilliseconds(): number {
  if (process.platform !== 'linux') return 0
  // cpu, user, nice, system, idle, iowait, irq, softirq, steal
  const stolen = readFileSync('/proc/stat', 'utf8').split(/\s+/, 9)[8]
  return Number(stolen) * (1000 / TICKS_A_SECOND)
}
