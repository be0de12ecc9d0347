import { type EventKind, passes, type Severity, type Subscription } from '../../alerts/index.ts'

/** What a channel is at the moment when an alert is fanned out. */
export interface Candidate {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly enabled: boolean
  readonly connected: boolean
  readonly muted: boolean
  readonly failing: boolean
  /** Within the plan's number of channels. */
  readonly inPlan: boolean
  readonly events: readonly Subscription[]
  /** It keeps incidents itself and was sent the opening event of this one. */
  readonly heldOpen: boolean
}

/** One place that an alert goes to. */
export interface PlannedDelivery {
  /** The channel; for a mail, the failing one that it stands in for, or null. */
  readonly channel: Pick<Candidate, 'id' | 'name' | 'kind'> | null
  /** The address of a mail; null for a channel. */
  readonly recipient: string | null
  /** Null when it is to be sent; else it is written down and not sent. */
  readonly outcome: 'muted' | 'suppressed' | null
  /** Why it is not sent. */
  readonly detail: string | null
}

/** An alert, and everything that decides where it goes. */
export interface Audience {
  readonly alert: { readonly kind: EventKind; readonly severity: Severity }
  /** Every channel of the workspace. */
  readonly channels: readonly Candidate[]
  /** Addresses of every contact of the workspace. */
  readonly contacts: readonly string[]
  /** Addresses of the contacts that the watchdog names; empty for other alerts. */
  readonly namedContacts: readonly string[]
}

/**
 * Who is notified of an alert.
 *
 * Channels: every one that is on and subscribes at this severity; one that keeps incidents also gets the closing
 * of what it was sent. Contacts: all of them unless an enabled, unmuted channel in plan took it and none is
 * failing; a watchdog's own contacts always, and they alone when no channel took it.
 */
export function recipientsOf({ alert, channels, contacts, namedContacts }: Audience): PlannedDelivery[] {
  const wanting = channels.filter(
    (channel) => channel.enabled && (channel.heldOpen || passes(channel.events, alert)),
  )
  const able = wanting.filter((channel) => reasonNot(channel) === null)
  const failing = able.find((channel) => channel.failing)
  return [
    ...wanting.map((channel) => ({ channel, recipient: null, ...(reasonNot(channel) ?? SENT) })),
    ...mailed({ covered: able.length > 0, failing, contacts, namedContacts }),
  ]
}

const SENT = { outcome: null, detail: null } as const

/** Why a channel that wants an alert does not get it; null when it does. */
function reasonNot({ inPlan, connected, muted }: Candidate) {
  if (!inPlan) return { outcome: 'suppressed', detail: 'The channel is over the limit of the plan.' } as const
  if (!connected) return { outcome: 'suppressed', detail: 'The channel has no credential.' } as const
  return muted ? ({ outcome: 'muted', detail: 'The channel is muted.' } as const) : null
}

function mailed({
  covered,
  failing,
  contacts,
  namedContacts,
}: {
  covered: boolean
  failing: Candidate | undefined
  contacts: readonly string[]
  namedContacts: readonly string[]
}): PlannedDelivery[] {
  const named = namedContacts.map((recipient) => ({ channel: null, recipient, ...SENT }))
  if (failing === undefined && (covered || named.length > 0)) return named
  const others = contacts.filter((recipient) => !namedContacts.includes(recipient))
  return [...named, ...others.map((recipient) => ({ channel: failing ?? null, recipient, ...SENT }))]
}
