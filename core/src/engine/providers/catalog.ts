import ROWS from './catalog.json' with { type: 'json' }
import type { ProviderRow } from './catalogSchema.ts'

/** Every provider, sorted by slug. A test checks the rows. */
export const PROVIDERS = ROWS

const bySlug = new Map(PROVIDERS.map((provider) => [provider.slug, provider]))

/** The provider of a slug, undefined when the catalog does not have it. */
export function findProvider(slug: string): ProviderRow | undefined {
  return bySlug.get(slug)
}

/**
 * Lower-case names of headers and members in which any provider sends the shared secret itself, in place of a signature.
 */
export const TOKEN_NAMES: ReadonlySet<string> = new Set(
  PROVIDERS.flatMap(({ schemes }) =>
    schemes.flatMap(({ mac, signature: { name, path } }) =>
      mac === 'token' || mac === 'basic' ? [(name ?? path?.split('.').at(-1) ?? '').toLowerCase()] : [],
    ),
  ),
)

/**
 * Lower-case names of the headers in which any provider sends its signature, to search when an endpoint's own header is
 * missing or wrong. `Authorization` is left out: many requests have it for other reasons.
 */
export const SIGNATURE_HEADERS: ReadonlySet<string> = new Set(
  PROVIDERS.flatMap((provider) =>
    provider.schemes.flatMap(({ signature }) =>
      signature.in === 'header' && signature.name !== undefined ? [signature.name.toLowerCase()] : [],
    ),
  ).filter((name) => name !== 'authorization'),
)
