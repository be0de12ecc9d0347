// Made from the API's description by `bun scripts/clientTypes.ts`: 86eb8287041265070b8102e7360e5fe540fe4e166573c4fa03a79c351cb311ab
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
