/**
 * Reasons to look at a flow: a new delivery waits, an attempt has ended, a bound of the flow has changed, or a delivery
 * is overdue. They are announced on the channel of endpoint changes.
 */
const FLOW_SIGNALS = ['work', 'end', 'change', 'overdue'] as const

/** One of the reasons to look at a flow. */
export type FlowSignalKind = (typeof FLOW_SIGNALS)[number]

/** The text of a signal on the channel of endpoint changes. {@link flowSignalOf} reads it. */
export function flowSignal(kind: FlowSignalKind, actionId: string): string {
  return `flow-${kind}/${actionId}`
}

/** Reads a signal; undefined for an announcement of something else. */
export function flowSignalOf(
  announced: string,
): { readonly kind: FlowSignalKind; readonly actionId: string } | undefined {
  if (!announced.startsWith('flow-')) return undefined
  const [name = '', actionId = ''] = announced.split('/')
  const kind = FLOW_SIGNALS.find((known) => name === `flow-${known}`)
  return kind === undefined ? undefined : { kind, actionId }
}
