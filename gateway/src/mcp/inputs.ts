import { REQUEST_STATES, VERIFICATION_FILTERS } from '@creel/core/engine/words'
import { z } from 'zod'

/** Members that several tools take. */
export const endpointId = z.string().describe('Id of the endpoint, as list_endpoints tells it')
/** Any safe integer passes: whether there is such a request, the API checks. */
export const requestId = z.int().describe('Id of the captured request')

/** What search and await look for; all combine with AND. */
export const filters = {
  q: z.string().optional().describe('Text found in path, query string, header values or body, without case'),
  method: z.string().optional(),
  state: z.enum(REQUEST_STATES).optional().describe('Latest delivery state'),
  verification: z
    .enum(VERIFICATION_FILTERS)
    .optional()
    .describe('Signature verdict; none: nothing was checked'),
  label: z.string().optional().describe('Exact event type'),
  eventId: z.string().optional().describe("Exact id of the event, the sender's own"),
  since: z.string().optional().describe('Received at or after; ISO 8601'),
  until: z.string().optional().describe('Received before; ISO 8601'),
  afterId: z.int().optional().describe('Only requests with a greater id'),
}

/** The path of an endpoint in the API, or of something below it. */
export const endpointPath = (id: string, below = ''): string =>
  `/api/v1/endpoints/${encodeURIComponent(id)}${below}`
