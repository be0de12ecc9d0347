import { z } from 'zod'
import { get, router } from '../api/route.ts'
import { PROVIDERS, type ProviderRow } from '../engine/providers/index.ts'

/** The public schema of a catalog entry. */
const Provider = z
  .object({
    slug: z.string().describe("Value for an endpoint's `provider`"),
    name: z.string(),
    eventType: z
      .object({
        source: z.enum(['header', 'body', 'form', 'body-key', 'jwt']),
        name: z
          .string()
          .nullable()
          .describe(
            'Header, body path or form field; null for `body-key`, where a member is named after the type',
          ),
      })
      .nullable()
      .describe('Place of the event type; null when there is none'),
    eventId: z
      .object({
        source: z.enum(['header', 'body']),
        name: z.string().describe('Header or body path'),
        documentedAt: z.url().nullable().describe("The sender's public reference"),
      })
      .nullable()
      .describe("Place of the sender's event id; null when none is known"),
    sequence: z
      .boolean()
      .describe('Whether its event ids are a sequence, in which gaps can be seen (`…/gaps`)'),
    reconcilable: z
      .boolean()
      .describe('Whether the provider lists its events, so that `…/reconcile` can find missing ones'),
    signatureHeader: z.string().nullable(),
    handshake: z
      .enum(['none', 'automatic', 'token'])
      .describe('Whether subscribing poses a challenge, and whether its answer needs a `handshakeToken`'),
    handshakeTokenNeeded: z.boolean().describe('`handshake` is `token`'),
    verification: z
      .object({ supported: z.boolean(), scheme: z.string(), secretLabel: z.string().nullable() })
      .nullable()
      .describe('Null when the provider does not sign'),
    setupPath: z.string().nullable().describe('Place in the settings of the provider for the webhook URL'),
  })
  .meta({ id: 'Provider' })

/**
 * A row of the catalog in the API's format: everything needed to set a provider up, without the details of
 * verification.
 */
function providerView(row: ProviderRow): z.input<typeof Provider> {
  const [place] = row.eventTypes
  const { verification } = row
  return {
    slug: row.slug,
    name: row.name,
    eventType: place === undefined ? null : { source: place.in, name: 'name' in place ? place.name : null },
    eventId: eventIdView(row),
    sequence: row.sequence !== undefined,
    reconcilable: row.sentList !== undefined,
    signatureHeader: row.signatureHeader,
    handshake: row.handshakes.length === 0 ? 'none' : row.handshakeTokenNeeded ? 'token' : 'automatic',
    handshakeTokenNeeded: row.handshakeTokenNeeded,
    verification:
      verification === null
        ? null
        : {
            supported: verification.supported,
            scheme: verification.scheme,
            secretLabel: verification.secretLabel,
          },
    setupPath: row.setupPath,
  }
}

function eventIdView({ eventId }: ProviderRow): z.input<typeof Provider>['eventId'] {
  const place = eventId?.places[0]
  if (place === undefined) return null
  return { source: place.in, name: place.name, documentedAt: eventId?.source ?? null }
}

const items = PROVIDERS.map(providerView)

export const providerRoutes = router({
  list: get('/api/v1/providers', {
    summary: 'List the recognised providers, sorted by slug',
    description: 'Static reference data: cache it. Slugs are stable.',
    input: z.object({}),
    narrows: true,
    output: z.object({ items: z.array(Provider) }),
    cacheControl: 'public, max-age=3600',
  }).query(() => ({ items })),
})
