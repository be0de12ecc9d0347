import { discord } from './discord.ts'
import { googlechat } from './googlechat.ts'
import type { ChannelKind } from './kind.ts'
import { ntfy } from './ntfy.ts'
import { opsgenie } from './opsgenie.ts'
import { pagerduty } from './pagerduty.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

/** Every kind of channel that can be added, in the order of lists. E-mail is not among them. */
export const CHANNEL_KINDS = {
  slack,
  discord,
  teams,
  googlechat,
  telegram,
  pagerduty,
  opsgenie,
  ntfy,
  webhook,
} as const satisfies Record<string, ChannelKind>

export type ChannelKindName = keyof typeof CHANNEL_KINDS

/** The names of all kinds, in the order of lists. */
export const CHANNEL_KIND_NAMES = Object.keys(CHANNEL_KINDS) as [ChannelKindName, ...ChannelKindName[]]

/** The kind of a stored channel. The annotation widens the nine literal types to their common one. */
export const channelKind = (name: ChannelKindName): ChannelKind => CHANNEL_KINDS[name]

export type { ChannelKind, Markup, Reading } from './kind.ts'
