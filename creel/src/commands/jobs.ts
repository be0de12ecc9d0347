import { type Db, run, statement } from '@creel/core'
import { type QueueState, readQueueStates } from '@creel/jobs'
import { type JsonOption, printJson, printTable } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { CompiledQuery } from 'kysely'
import { configOfOneCell, decodeConfig } from '../config/index.ts'
import { withDatabase } from '../database/index.ts'
import { environmentBesideService } from '../dataFolder.ts'
import type { ProgramParts } from '../programParts.ts'
import { StartupError } from '../startupError.ts'

/** `creel jobs`: changes nothing. */
export function addJobsCommand(command: Command, parts: ProgramParts): void {
  command
    .option('--json', 'print [{"queue","schedule","due","later","running","failed","nextAt"}] on one line')
    .action(async ({ json }: JsonOption) => {
      const config = configOfOneCell(decodeConfig(await environmentBesideService(process.env)).config)
      const states = await withDatabase(config, parts, queueStates)
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
async function queueStates(db: Db): Promise<QueueState[]> {
  const [row] = await run(db, HAS_QUEUES, [])
  if (row?.exists !== true) {
    throw new StartupError('There are no queues yet: start the service once with `creel serve`.')
  }
  return await readQueueStates(
    async (text) => (await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text))).rows,
  )
}
