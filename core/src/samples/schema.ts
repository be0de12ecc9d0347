import { z } from 'zod'
import { Int64, optional } from '../api/values.ts'

/** Members that one call may set. */
export const SET_MAX = 50

/** Sample events of a provider, as the list route shows them. */
export const ProviderSamples = z
  .object({
    provider: z.string().describe('Slug of the provider catalog'),
    name: z.string(),
    events: z.array(z.object({ event: z.string(), summary: z.string() })),
  })
  .meta({ id: 'ProviderSamples' })

/** Input of the send route without the endpoint; slugs, events and paths are checked after parsing. */
export const sendInput = {
  provider: z.string().min(1).max(100).describe('Slug of a provider in the list'),
  event: optional(z.string().min(1).max(200)).describe('Default: the first of the provider'),
  set: optional(z.record(z.string(), z.unknown())).describe(
    `Values by path into the body, e.g. \`{"body.data.amount": 5}\`; at most ${SET_MAX}`,
  ),
  badSignature: optional(z.boolean()).describe('Sign with a wrong secret'),
}

export const SentSample = z
  .object({
    requestId: Int64,
    provider: z.string(),
    event: z.string(),
    url: z.url().describe('The capture URL that it was sent to'),
    signed: z.boolean().describe('False without a secret, and where only the provider can sign'),
  })
  .meta({ id: 'SentSample' })
