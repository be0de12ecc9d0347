import type { Alert } from '../../alerts/index.ts'
import type { ChannelSettings, SettingField } from '../settings.ts'

/** A message as it goes over the wire, before the guarded client adds what belongs to the transport. */
export interface ProviderRequest {
  readonly method: 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What the provider answered. */
export interface ProviderAnswer {
  readonly statusCode: number
  /** As text, cut where the guarded client cuts. */
  readonly body: string
}

/** What an answer means. */
export interface Reading {
  readonly delivered: boolean
  /** True when the same message would be refused again: no further try, and the channel is failing. */
  readonly permanent: boolean
  /** The provider's words; null when it was delivered. */
  readonly detail: string | null
}

/** What a kind needs to know of a channel. */
export interface ChannelConfiguration {
  readonly settings: ChannelSettings
  /** In the clear; null when none is stored. */
  readonly secret: string | null
}

/** What the installation says about sending. */
export interface SendingContext {
  readonly now: Date
  /** Base addresses of providers' APIs that differ from the public ones, e.g. a local Telegram Bot API server. */
  readonly apiUrls: Readonly<Partial<Record<string, string>>>
}

/** How a kind writes text. */
export interface Markup {
  /** Makes a value from outside harmless in this kind's messages. */
  escape(text: string): string
  /** The longest message that the provider takes, counted before escaping, in characters. */
  readonly maxCharacters: number
}

/** One place where alerts can go: all that is particular to it. */
export interface ChannelKind {
  readonly displayName: string
  /** What `secret` holds. */
  readonly credentialLabel: string
  readonly credentialRequired: boolean
  /** What the `secret` must look like: an address of the provider, or a token. */
  readonly credential: 'url' | 'token' | 'signingSecret'
  readonly fields: readonly SettingField[]
  readonly markup: Markup
  /** Whether the provider keeps incidents itself: then a closing event goes wherever the opening one went. */
  readonly keepsIncidents: boolean
  /** Where it goes, in words that give no secret away; null while that is not known. */
  destination(channel: ChannelConfiguration): string | null
  /**
   * The message as the provider documents it.
   *
   * @param channel must be connected: a required credential and every required setting present
   */
  build(alert: Alert, channel: ChannelConfiguration, context: SendingContext): ProviderRequest
  read(answer: ProviderAnswer): Reading
}
