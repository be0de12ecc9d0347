import pg from 'pg'
import type { Services } from '../../api/services.ts'
import { DEFAULT_RESPONSE, safeResponse } from '../../endpoints/index.ts'
import { ConditionSet } from '../../engine/conditions/index.ts'
import { prepareVerification } from '../../engine/verification/index.ts'
import { type CaptureSettings, nothingLearned } from '../captureSettings.ts'
import { type Captures, createCaptures } from '../captures.ts'
import { SilentServer } from './silentServer.ts'

/** Id of the endpoint of the warm-up. No database has it. */
export const WARM_UP_ID = '00000000-0000-4000-8000-000000000000'

/**
 * Opens the capture path on a {@link SilentServer}, so that the code is compiled before the first capture. Each capture
 * for {@link WARM_UP_ID} is evaluated, written as a row and answered as any other. Nothing is stored or announced, and no
 * job is made.
 */
export function warmUpCaptures(services: Services): Captures {
  const pool = new pg.Pool({ max: 1, stream: () => new SilentServer() })
  pool.on('error', () => {})
  const quiet: Services = {
    ...services,
    // A sender never sees a failure of the warm-up.
    log: services.log.child({}, { level: 'silent' }),
    endpointChanges: { onEndpoint: () => () => {}, onAny: () => () => {}, announce: () => {} },
  }
  // One object, since captures with other settings are no plain batch.
  const loaded = new Map([[WARM_UP_ID, settings()]])
  const captures = createCaptures(quiet, pool, { load: async () => loaded })
  return {
    ...captures,
    async close() {
      await captures.close()
      await pool.end()
    },
  }
}

function settings(): CaptureSettings {
  const unlimited = Number.MAX_SAFE_INTEGER
  return {
    endpointId: WARM_UP_ID,
    captureId: WARM_UP_ID,
    previousCaptureId: null,
    previousCaptureUntil: null,
    endpointName: 'warm-up',
    workspaceId: WARM_UP_ID,
    cell: 0,
    isSealed: false,
    plan: 'team',
    revision: 1,
    payloadBytesMax: 1024 * 1024,
    storedRequestsMax: 1_000_000,
    captureRatePerMinute: 1_000_000,
    captureBytesPerMinute: unlimited,
    rejectUnverified: false,
    allowCors: false,
    isAllowedSender: undefined,
    response: safeResponse(DEFAULT_RESPONSE),
    script: null,
    verification: prepareVerification({
      provider: null,
      signingSecret: null,
      handshakeToken: null,
      manual: null,
    }),
    eventIdPath: null,
    columns: [],
    storing: null,
    repeating: { label: false, eventId: false },
    sealing: null,
    originalMs: null,
    hash: null,
    dedupe: null,
    actions: [],
    criteria: new ConditionSet([]),
    looks: 0,
    learned: nothingLearned(),
  }
}
