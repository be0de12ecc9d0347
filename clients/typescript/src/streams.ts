// Made from the API's description by `bun scripts/clientTypes.ts`: dda282532d67049e54c3da4a65ab00c45e668680005776dd64fe9b519a1006bf
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
