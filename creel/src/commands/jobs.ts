import { run, statement } from '@creel/core'
import { type QueueState, readQueueStates } from '@creel/jobs'
import { type JsonOption, printJson, printTable } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { CompiledQuery } from 'kysely'
import { decodeConfig } from '../config/index.ts'
import { connectAsGuest } from '../database/index.ts'
import { environmentBesideService } from '../dataFolder.ts'
import { createLog } from '../log.ts'
import type { ProgramParts } from '../programParts.ts'
import { StartupError } from '../startupError.ts'

/** `creel jobs`: changes nothing. */
export function addJobsCommand(command: Command, parts: ProgramParts): void {
  command
    .option('--json', 'print [{"queue","schedule","due","later","running","failed","nextAt"}] on one line')
    .action(async ({ json }: JsonOption) => {
      const states = await queueStates(parts)
      if (json === true) return printJson(states)
      printTable<QueueState>(states, {
        Queue: ({ queue }) => queue,
        'Runs (UTC)': ({ schedule }) => schedule ?? 'on demand',
        Due: ({ due }) => String(due),
        Later: ({ later }) => String(later),
        Running: ({ running }) => String(running),
        Failed: ({ failed }) => String(failed),
        Next: ({ nextAt }) => nextAt?.toISOString() ?? '',
      })
    })
}

const HAS_QUEUES = statement('has queues', `select to_regclass('pgboss.job') is not null as exists`, {
  isPrepared: false,
})

/** @throws StartupError where no service has created the queues yet */
async function queueStates({ runtime }: ProgramParts): Promise<QueueState[]> {
  const { config } = decodeConfig(await environmentBesideService(process.env))
  const log = createLog(config.CREEL_LOG_LEVEL)
  const connected = await connectAsGuest({ config, log, runtime, maxConnections: 1 })
  try {
    const { db } = connected.database
    const rows = await run(db, HAS_QUEUES, [])
    if (rows[0]?.exists !== true) {
      throw new StartupError('There are no queues yet: start the service once with `creel serve`.')
    }
    return await readQueueStates(async (statement) => {
      const { rows } = await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(statement))
      return rows
    })
  } finally {
    await connected.close()
  }
}
