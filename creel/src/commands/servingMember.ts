import { migrationState } from '@creel/migrations'
import { connectBesideOwner } from '../database/index.ts'
import type { Membership } from '../gateways/index.ts'
import { StartupError } from '../startupError.ts'
import { VERSION } from '../version.ts'
import { openReplica } from './databaseShare.ts'
import { openHome, otherCells, type ServingOptions, startOn } from './serving.ts'

/**
 * Starts the service of a further gateway process, on the port and the database of the first one.
 *
 * @throws StartupError when the program on the disk is no longer the one that the first process runs
 */
export async function openMember(
  options: Pick<ServingOptions, 'config' | 'log' | 'program' | 'parts'>,
  { settings, processes, serve, leave }: Membership,
): Promise<{ close(): Promise<void> }> {
  const { log } = options
  const replaced = 'The program was replaced while it runs: restart the service.'
  if (settings.version !== VERSION) throw new StartupError(replaced)
  const { config, connected } = await openHome(options, processes, connectBesideOwner)
  const replica = openReplica(config, processes)
  const { pending, unknown } = await migrationState(connected.database.db)
  if (pending.length > 0 || unknown.length > 0) throw new StartupError(replaced)
  const service = await startOn({ ...options, config }, connected, {
    replica,
    storageMaxBytes: settings.storageMaxBytes,
    port: settings.port,
    processes,
  })
  const cells = otherCells(service, { config, connected }, { log, processes })
  serve(service)
  return {
    async close() {
      await cells?.stop()
      await service.stop()
      await cells?.close()
      await replica?.close()
      await connected.close()
      await leave()
    },
  }
}
