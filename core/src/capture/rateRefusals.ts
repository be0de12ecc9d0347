import { aheadMs, type Services } from '../api/services.ts'
import type { CaptureSettings } from './captureSettings.ts'
import { gatherCounts } from './gatheredCounts.ts'
import { countRefused } from './refusalStatement.ts'
import type { RejectionHistory } from './rejectionHistory.ts'
import { tellOfRejections } from './rejections.ts'

/** Outcome of a capture that is refused before its body is read. */
export type EarlyRefusal =
  /** Refused and counted. */
  | { readonly state: 'limited'; readonly retryAfterSeconds: number }
  /** The refusal could not be counted: PostgreSQL cannot store now. */
  | { readonly state: 'unavailable'; readonly retryAfterSeconds?: number }

/** Refuses captures of endpoints that are known to be over their rate, before their bodies are read. */
export interface RateRefusals {
  /** Notes that the endpoint refuses captures for the next seconds. */
  note(settings: CaptureSettings, retryAfterSeconds: number): void
  /** Whether the endpoint was over its rate and its window has not ended. A lookup in memory. */
  isOver(settings: CaptureSettings): boolean
  /**
   * Counts a refusal, together with others of the same moment. Never rejects.
   *
   * @returns undefined when the endpoint takes captures again: evaluate this one
   */
  refuse(settings: CaptureSettings): Promise<EarlyRefusal | undefined>
}

/**
 * Makes the refusals of a process. The statement that counts checks the state in memory: after the end of a window or a
 * change of settings, the very next capture is accepted.
 */
export function createRateRefusals(
  services: Pick<Services, 'db' | 'clock' | 'enqueue' | 'log'>,
  history: RejectionHistory,
): RateRefusals {
  const { db, clock } = services
  const refuse = gatherCounts<EarlyRefusal | undefined>(async (batch) => {
    const refused = [...batch].map(([settings, { count }]) => ({ settings, count }))
    try {
      const counted = await countRefused(db, refused, aheadMs(clock))
      const byId = new Map(counted.map((refusal) => [refusal.endpointId, refusal]))
      for (const [settings, { answer, count }] of batch) {
        const refusal = byId.get(settings.endpointId)
        if (refusal === undefined) settings.learned.overUntil = 0
        else history.note(settings.endpointId, { rejected: count })
        answer.resolve(refusal && { state: 'limited', retryAfterSeconds: refusal.retryAfterSeconds })
      }
      const rejecting = counted.filter((refusal) => refusal.rejecting).map(({ endpointId }) => endpointId)
      if (rejecting.length > 0) void tellOfRejections(services, rejecting)
    } catch (error) {
      services.log.debug({ err: error }, 'refused captures could not be counted')
      for (const { answer } of batch.values()) answer.resolve({ state: 'unavailable' })
    }
  })

  return {
    note(settings, retryAfterSeconds) {
      settings.learned.overUntil = clock.now().getTime() + retryAfterSeconds * 1000
      history.note(settings.endpointId, { rejected: 1 })
    },
    isOver: ({ learned }) => clock.now().getTime() < learned.overUntil,
    refuse,
  }
}
