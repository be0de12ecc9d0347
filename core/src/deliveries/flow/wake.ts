import type { Services } from '../../api/services.ts'
import { type Lane, queueRecovery, SIGNALS, type Signal } from '../../dispatch/index.ts'
import { announceEndpointChange } from '../../platform/changes/index.ts'
import type { Trx } from '../../platform/db/index.ts'
import { DELIVERY_LANES } from '../jobs.ts'

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

/** Leads to looks at lanes of actions when the transaction commits: by a signal at once, and by a job if that is lost. */
export async function wakeFlows(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  lanes: readonly Lane[],
  signal: Signal = 'work',
): Promise<void> {
  const distinct = [...new Map(lanes.map((lane) => [lane.id, lane])).values()]
  if (distinct.length === 0) return
  await queueRecovery(services, trx, DELIVERY_LANES, distinct)
  await announceEndpointChange(trx, ...distinct.map((lane) => flowSignal(signal, lane)))
}

export function flowsOf(
  deliveries: readonly {
    readonly actionId: string
    readonly workspaceId: string
    readonly flowState: string | null
  }[],
): readonly Lane[] {
  return deliveries.flatMap(({ actionId: id, workspaceId, flowState }) =>
    flowState === null ? [] : [{ id, workspaceId }],
  )
}
