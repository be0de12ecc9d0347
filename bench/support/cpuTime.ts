import { readdir, readFile } from 'node:fs/promises'
import { Client } from 'pg'

/**
 * Processor time that processes have used so far, in microseconds, of all their threads. Far steadier than rates: what else
 * happens on the machine makes a run longer, and hardly dearer. Linux only.
 *
 * @param pids processes that are gone count nothing
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

/** The first number of a thread's schedstat: nanoseconds on a processor. */
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
