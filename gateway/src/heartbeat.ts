import { randomUUID } from 'node:crypto'
import type { Services } from '@creel/core'
import { beat, HEARTBEAT_SECONDS } from '@creel/core/watchdogs'

/**
 * Says every few seconds that this gateway can take captures, until it is stopped: the silences between are the
 * downtime that watchdogs are credited with. A beat that fails is one that was not sent: without the database no
 * capture is taken either.
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
      log.warn({ err: error }, 'no heartbeat: the database did not take it')
    } finally {
      beating = false
    }
  }
  await sendBeat()
  const timer = setInterval(sendBeat, HEARTBEAT_SECONDS * 1000)
  return () => clearInterval(timer)
}
