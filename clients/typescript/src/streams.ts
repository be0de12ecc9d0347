// Made from the API's description by `bun scripts/clientTypes.ts`: bc793720de3137319e8c1714908f08828a0a142bb70da91db3220392b28a2363
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
