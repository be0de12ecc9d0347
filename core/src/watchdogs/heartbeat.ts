import { randomUUID } from 'node:crypto'
import type { Services } from '../api/services.ts'
import { beat, HEARTBEAT_SECONDS } from './downtime.ts'

/**
 * Records every few seconds that this gateway can take captures, until it is stopped; the first time before it
 * resolves. Watchdogs count the gaps between heartbeats as downtime of the service. A failed heartbeat counts as not
 * sent: without the database, captures fail as well.
 */
export async function startHeartbeat({
  db,
  log,
}: Pick<Services, 'db' | 'log'>): Promise<{ stop(): Promise<void> }> {
  const gatewayId = randomUUID()
  let isBeating = false
  const sendBeat = async () => {
    if (isBeating) return
    isBeating = true
    try {
      await beat(db, gatewayId)
    } catch (error) {
      log.warn({ err: error }, 'no heartbeat: the database did not accept it')
    } finally {
      isBeating = false
    }
  }
  await sendBeat()
  const timer = setInterval(sendBeat, HEARTBEAT_SECONDS * 1000)
  return {
    stop() {
      clearInterval(timer)
      return Promise.resolve()
    },
  }
}
