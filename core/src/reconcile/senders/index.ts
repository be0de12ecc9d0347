import type { Services } from '../../api/services.ts'
import type { SentList } from '../../engine/providers/index.ts'
import type { CallServices } from './call.ts'
import { type GithubCredentials, github } from './github.ts'
import type { ListingSender } from './sender.ts'
import { type StripeCredentials, stripe } from './stripe.ts'

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

export type SenderCredentials =
  | ({ readonly sender: 'stripe' } & StripeCredentials)
  | ({ readonly sender: 'github' } & GithubCredentials)

export function senderWith(
  services: CallServices & Pick<Services, 'providerApiUrls'>,
  credentials: SenderCredentials,
): ListingSender {
  return credentials.sender === 'stripe'
    ? stripe(services, { baseUrl: apiUrlOf(services, 'stripe'), credentials })
    : github(services, { credentials })
}
