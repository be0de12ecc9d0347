/**
 * Why a flow is worth a look: something new waits, an attempt has ended, or what bounds the flow has changed. They are announced where
 * changes of endpoints are.
 */
const FLOW_SIGNALS = ['work', 'end', 'change'] as const

/** One of the reasons to look at a flow. */
export type FlowSignalKind = (typeof FLOW_SIGNALS)[number]

/** The announcement of a signal. */
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
