import { z } from 'zod'
import { route, router } from '../api/route.ts'
import { PROVIDERS } from '../engine/providers/index.ts'
import { Provider, providerView } from './schema.ts'

const items = PROVIDERS.map(providerView)

export const providerRoutes = router({
  list: route({
    method: 'GET',
    path: '/api/v1/providers',
    summary: 'List the recognised providers, sorted by slug',
    description: 'Static reference data: cache it. Slugs are stable.',
    input: z.object({}),
    narrows: true,
    output: z.object({ items: z.array(Provider) }),
    cacheControl: 'public, max-age=3600',
  }).query(() => ({ items })),
})
