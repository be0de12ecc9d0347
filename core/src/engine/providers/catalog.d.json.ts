import type { ProviderRow } from './catalogSchema.ts'

/**
 * Every provider, sorted by slug: facts about the world. `catalogSchema.ts` describes the members, and a test checks them.
 * Endpoints store slugs: one may be added, never renamed or removed.
 */
declare const rows: readonly ProviderRow[]
export default rows
