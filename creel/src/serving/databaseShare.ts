import { type OpenDatabase, openDatabase } from '@creel/core'
import { SEARCH_CONNECTIONS } from '@creel/core/platform/db'
import type { Config } from '../config/index.ts'
import { connectionsEach } from '../gateways/index.ts'
import type { GatewayProcesses } from '../service/index.ts'

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
