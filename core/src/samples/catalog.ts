import { findProvider } from '../engine/providers/index.ts'
import { CODE } from './events/code.ts'
import { MESSAGES } from './events/messages.ts'
import { PAYMENTS } from './events/payments.ts'
import { SENDERS } from './events/senders.ts'
import { SHOPS } from './events/shops.ts'
import type { ProviderSamples, SampleEvent } from './sample.ts'

/** The providers with samples, sorted by slug. */
export const SAMPLES: readonly ProviderSamples[] = [
  ...PAYMENTS,
  ...SHOPS,
  ...CODE,
  ...MESSAGES,
  ...SENDERS,
].sort((left, right) => (left.provider < right.provider ? -1 : 1))

/** The samples of a provider; undefined if there are none. */
export function samplesOf(provider: string): ProviderSamples | undefined {
  return SAMPLES.find((samples) => samples.provider === provider)
}

/** The event with a name; by default the provider's first. */
export function eventNamed(samples: ProviderSamples, name: string | undefined): SampleEvent | undefined {
  return name === undefined ? samples.events[0] : samples.events.find(({ event }) => event === name)
}

/** Display name of a provider. */
export function providerName(slug: string): string {
  return findProvider(slug)?.name ?? slug
}
