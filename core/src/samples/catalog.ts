import { findProvider } from '../engine/providers/index.ts'
import type { ProviderSamples, SampleEvent } from './sample.ts'
import SAMPLES from './samples.json' with { type: 'json' }

export { SAMPLES }

export function samplesOf(provider: string): ProviderSamples | undefined {
  return SAMPLES.find((samples) => samples.provider === provider)
}

/** The event with a name; by default the provider's first. */
export function eventNamed(samples: ProviderSamples, name: string | undefined): SampleEvent | undefined {
  return name === undefined ? samples.events[0] : samples.events.find(({ event }) => event === name)
}

export function providerName(slug: string): string {
  return findProvider(slug)?.name ?? slug
}
