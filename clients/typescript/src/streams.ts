// Made from the API's description by `bun scripts/clientTypes.ts`: dff5a84c12ac4e3c38fab5b1f909ce45d9be533900a568eb73ee45572d27f1b2
import type { components } from './schema.ts'

/** Events of each stream, by its operation. */
export interface StreamEvents {
  requests_follow: components['schemas']['RequestsFollowEvent']
  replays_follow: components['schemas']['ReplaysFollowEvent']
}

/** Members that the data of each event must have, with their JSON types. */
export const EVENT_MEMBERS = {
  requests_follow: {
    arrived: { requests: 'array' },
    captured: { requests: 'array' },
    passed: { count: 'number' },
    changed: { states: 'array' },
    replay: { replayId: 'number', requestId: 'number' },
    behind: { lastId: 'number' },
  },
  replays_follow: {
    progress: { id: 'string', endpointId: 'string', state: 'string', order: 'string', sign: 'string', seed: 'number', concurrency: 'number', counts: 'object', plannedMs: 'number', createdAt: 'string' },
    ended: { state: 'string' },
  },
} as const
