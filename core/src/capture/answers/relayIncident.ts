import { closeIncidents, openIncident } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { storedAnswerFrom } from '../../endpoints/index.ts'
import { shareOf } from '../../platform/db/index.ts'
import { lockWorkspace } from '../../workspaces/index.ts'
import type { CaptureSettings } from '../captureSettings.ts'
import type { AnswerScript, Relay } from './script.ts'

const KIND = 'answer.unavailable'

/**
 * Opens the incident of an endpoint whose action answers no more, or closes it. Once for the settings of a script, unless
 * it fails. Never rejects.
 */
export async function tellOfRelay(
  services: Pick<Services, 'db' | 'clock' | 'enqueue' | 'log'>,
  settings: CaptureSettings,
  { learned }: AnswerScript,
  relay: Relay,
): Promise<void> {
  const state = relay.action === null ? 'unavailable' : 'available'
  if (learned.relay === state) return
  learned.relay = state
  const { endpointId, endpointName, workspaceId } = settings
  try {
    await shareOf(services.db, workspaceId)
      .transaction()
      .execute(async (trx) => {
        if (state === 'available') {
          await closeIncidents(services, trx, { kind: KIND, subjectIds: [endpointId] })
          return
        }
        // Locked before the endpoint, as its deletion does.
        await lockWorkspace(trx, workspaceId)
        // Without its setting, nothing would close the incident.
        const endpoint = await trx
          .selectFrom('endpoints')
          .where('id', '=', endpointId)
          .where('deletedAt', 'is', null)
          .select(['id', 'answerFrom'])
          .forShare()
          .executeTakeFirst()
        if (endpoint === undefined) return
        if (storedAnswerFrom(endpoint.answerFrom)?.actionId !== relay.actionId) return
        // Nor would anything while the action is on: the settings that told of it may be old. It is read under the lock,
        // since a change of an action locks the endpoint.
        const isOn = await trx
          .selectFrom('actions')
          .where('id', '=', relay.actionId)
          .where('isActive', '=', true)
          .where('suspendedByPlan', '=', false)
          .select('id')
          .executeTakeFirst()
        if (isOn !== undefined) return
        const named = { id: endpointId, name: endpointName }
        const subject = { workspaceId, subject: named, endpoint: named }
        await openIncident(services, trx, { kind: KIND, ...subject, requestId: null, reason: null })
      })
  } catch (err) {
    learned.relay = null
    services.log.warn({ err, endpointId }, 'the incident of a relayed answer was not written')
  }
}
