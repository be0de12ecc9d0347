import type { Alert } from '../../alerts/index.ts'
import { type ChannelSettings, field, type SettingField } from '../settings.ts'

/** A message as sent to the provider, before the guarded client adds transport headers. */
export interface ProviderRequest {
  readonly method: 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ProviderAnswer {
  readonly statusCode: number
  /** As text, cut at the guarded client's limit. */
  readonly body: string
}

/** Result of a send, read from the provider's answer. */
export interface Reading {
  readonly delivered: boolean
  /** True if the same message would be refused again: no retry, and the channel is failing. */
  readonly permanent: boolean
  /** The provider's message; null when it was delivered. Secrets are masked in what is stored. */
  readonly detail: string | null
}

export interface ChannelConfiguration {
  readonly settings: ChannelSettings
  /** Decrypted; null when none is stored. */
  readonly secret: string | null
}

/** Facts about the installation that sending needs. */
export interface SendingContext {
  readonly now: Date
  /** Base addresses of providers' APIs that differ from the public ones, e.g. a local Telegram Bot API server. */
  readonly apiUrls: Readonly<Partial<Record<string, string>>>
}

export interface Markup {
  /** Escapes a value from outside for this kind's messages. */
  escape(text: string): string
  /** Longest message that the provider accepts, counted before escaping, in characters. */
  readonly maxCharacters: number
}

export interface ChannelKind {
  readonly displayName: string
  readonly credentialLabel: string
  readonly credentialRequired: boolean
  /** Format of the `secret`: an address of the provider, or a token. */
  readonly credential: 'url' | 'token' | 'signingSecret'
  readonly fields: readonly SettingField[]
  readonly markup: Markup
  /** Set if the provider tracks incidents itself. Then a closing event is sent wherever the opening one was sent. */
  readonly keepsIncidents?: true
  /** Destination as text without secrets; null while it is unknown. */
  destination(channel: ChannelConfiguration): string | null
  /**
   * Builds the message in the provider's documented format.
   *
   * @param channel must be connected: a required credential and every required setting are present
   */
  build(alert: Alert, channel: ChannelConfiguration, context: SendingContext): ProviderRequest
  read(answer: ProviderAnswer): Reading
}

/** A kind whose credential is the address of an incoming webhook, and whose `secret` says it all. */
export const INCOMING_WEBHOOK = { credentialRequired: true, credential: 'url', fields: [] } as const

/** The region of a PagerDuty or Opsgenie account, chosen at its creation. */
export const REGION_FIELD = field({
  name: 'region',
  label: 'Service region',
  type: 'select',
  default: 'us',
  options: ['us', 'eu'],
  help: 'Region of the account. A key of one region does not work in the other.',
})
