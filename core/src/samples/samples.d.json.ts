import type { ProviderSamples } from './sample.ts'

/** The providers with samples, sorted by slug. A test checks the shape. */
declare const samples: readonly ProviderSamples[]
export default samples
