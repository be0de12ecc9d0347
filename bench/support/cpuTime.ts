import { readdir, readFile } from 'node:fs/promises'
import { Client } from 'pg'

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

/** The processes of a PostgreSQL on this machine: its connections and those that write in the background. */
export async function postgresProcesses(url: string): Promise<number[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity')
  await client.end()
  return rows.map(({ pid }) => pid)
}
