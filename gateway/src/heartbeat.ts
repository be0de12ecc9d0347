import { randomUUID } from 'node:crypto'
import type { Services } from '@creel/core'
import { beat, HEARTBEAT_SECONDS } from '@creel/core/watchdogs'

/**
 * Records every few seconds that this gateway can take captures, until it is stopped. Watchdogs count the gaps between
 * heartbeats as downtime of the service. A failed heartbeat counts as not sent: without the database, captures fail as
 * well.
 *
 * @returns stops it
 */
export async function startHeartbeat({ db, log }: Services): Promise<() => void> {
  const gatewayId = randomUUID()
  let beating = false
  const sendBeat = async () => {
    if (beating) return
    beating = true
    try {
      await beat(db, gatewayId)
    } catch (error) {
      log.warn({ err: error }, 'no heartbeat: the database did not accept it')
    } finally {
      beating = false
    }
  }
  await sendBeat()
  const timer = setInterval(sendBeat, HEARTBEAT_SECONDS * 1000)
  return () => clearInterval(timer)
}
