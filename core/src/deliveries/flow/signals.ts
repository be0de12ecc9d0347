import { type Lane, SIGNALS, type Signal } from '../../dispatch/index.ts'

/**
 * The text of a signal for the flow of an action, which is announced on the channel of endpoint changes.
 * {@link flowSignalOf} reads it.
 */
export function flowSignal(signal: Signal, { id, workspaceId }: Lane): string {
  return `flow-${signal}/${id}/${workspaceId}`
}

/** Reads a signal; undefined for an announcement of something else. */
export function flowSignalOf(
  announced: string,
): { readonly signal: Signal; readonly lane: Lane } | undefined {
  if (!announced.startsWith('flow-')) return undefined
  const [name = '', id, workspaceId] = announced.split('/')
  const signal = SIGNALS.find((known) => name === `flow-${known}`)
  if (signal === undefined || id === undefined || workspaceId === undefined) return undefined
  return { signal, lane: { id, workspaceId } }
}
