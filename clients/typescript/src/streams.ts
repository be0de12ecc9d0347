// Made from the API's description by `bun run openapi:snapshot`: do not edit.
import type { MakeStream } from './call.ts'
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
    progress: {
      id: 'string',
      endpointId: 'string',
      state: 'string',
      order: 'string',
      sign: 'string',
      seed: 'number',
      concurrency: 'number',
      counts: 'object',
      plannedMs: 'number',
      createdAt: 'string',
    },
    ended: { state: 'string' },
  },
} as const

/** A method for each stream of the API, by its noun. */
export const streamsOf = (stream: MakeStream) => ({
  requests: {
    /** Follow the captures and deliveries of an endpoint */
    follow: stream('requests_follow', '/api/v1/endpoints/{endpointId}/requests/stream'),
  },
  replays: {
    /** Follow the progress of a replay, to its end */
    follow: stream('replays_follow', '/api/v1/endpoints/{endpointId}/replays/{replayId}/stream'),
  },
})
