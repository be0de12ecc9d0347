import { z } from 'zod'
import type { Services } from '../../api/services.ts'
import type { SentList } from '../../engine/providers/index.ts'
import type { CallServices } from './call.ts'
import { github } from './github.ts'
import type { ListingSender } from './sender.ts'
import { stripe } from './stripe.ts'

export { isHookUrl } from './github.ts'
export * from './sender.ts'

/** Public addresses of the senders' APIs; `CREEL_PROVIDER_API_URLS` names others. */
const PUBLIC_URLS: Readonly<Record<SentList, string>> = {
  stripe: 'https://api.stripe.com',
  github: 'https://api.github.com',
}

/** The base address of a sender's API, without a trailing slash. */
export function apiUrlOf({ providerApiUrls }: Pick<Services, 'providerApiUrls'>, sender: SentList): string {
  return providerApiUrls[sender] ?? PUBLIC_URLS[sender]
}

export const SenderCredentials = z.union([
  z.object({ sender: z.literal('stripe'), apiKey: z.string() }),
  z.object({ sender: z.literal('github'), token: z.string(), hookUrl: z.string() }),
])
export type SenderCredentials = z.output<typeof SenderCredentials>

export function senderWith(
  services: CallServices & Pick<Services, 'providerApiUrls'>,
  credentials: SenderCredentials,
): ListingSender {
  return credentials.sender === 'stripe'
    ? stripe(services, apiUrlOf(services, 'stripe'), credentials.apiKey)
    : github(services, credentials)
}
