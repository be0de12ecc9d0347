import { type EventKind, passes, type Severity, type Subscription } from '../../alerts/index.ts'

/** A channel's state when an alert is fanned out. */
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
  /** Whether the provider tracks incidents itself and got the opening event of this one. */
  readonly heldOpen: boolean
}

export interface PlannedDelivery {
  /** The channel; for a mail, the failing channel that it replaces, or null. */
  readonly channel: Pick<Candidate, 'id' | 'name' | 'kind'> | null
  /** The address of a mail; null for a channel. */
  readonly recipient: string | null
  /** Null if it is to be sent; else it is recorded and not sent. */
  readonly outcome: 'muted' | 'suppressed' | null
  /** Why it is not sent. */
  readonly detail: string | null
}

/** An alert, and everything that decides its recipients. */
export interface Audience {
  readonly alert: { readonly kind: EventKind; readonly severity: Severity }
  readonly channels: readonly Candidate[]
  /** Addresses of every contact of the workspace. */
  readonly contacts: readonly string[]
  /** Addresses of the watchdog's own contacts; empty for other alerts. */
  readonly namedContacts: readonly string[]
}

/**
 * Determines the recipients of an alert.
 *
 * Channels: every one that is on and subscribes at this severity. One that tracks incidents also gets the closing event
 * of an incident whose opening it got. Contacts: all, unless an enabled, unmuted channel in plan took the alert and
 * none is failing. A watchdog's own contacts get it always, and if no channel took it, only they do.
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

/** Why a subscribed channel does not get an alert; null when it does. */
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
