import { listActions } from '../actions/index.ts'
import { storedPolicy } from '../deliveries/index.ts'
import type { EndpointRow, StoringInput } from '../endpoints/index.ts'
import { preparedStoring, storedDedupe } from '../endpoints/index.ts'
import { pathsOf, storedCondition } from '../engine/conditions/index.ts'
import { findProvider } from '../engine/providers/index.ts'
import { type Storing, takesOut, takesOutText } from '../engine/storing/index.ts'
import type { Db, Trx } from '../platform/db/index.ts'

/** The members of an endpoint that decide where its event ids are. */
type EventIds = Pick<EndpointRow, 'eventIdPath' | 'provider' | 'dedupe'>

/**
 * Names what reads a value that rules for storing take out: conditions and orders of actions, the event id. They work
 * on the request as it came, so a capture is handled as before. Later readers, like a replay, see what is stored.
 */
export async function storingWarnings(
  db: Db | Trx,
  endpoint: EventIds & { readonly id: string },
  input: StoringInput,
): Promise<string[]> {
  const storing = preparedStoring(input, null)
  if (storing === null) return []
  const actions = await listActions(db, endpoint.id)
  return [
    ...eventIdWarnings(storing, endpoint),
    ...actions.flatMap(({ name, condition, deliveryPolicy }) => [
      ...pathsOf(storedCondition(condition))
        .filter((path) => takesOut(storing, path))
        .map(
          ({ text }) =>
            `The condition of the action '${name}' reads ${text}, which is not stored as it came. It is evaluated before.`,
        ),
      ...orderWarnings(storing, name, storedPolicy(deliveryPolicy).order?.by),
    ]),
  ]
}

function orderWarnings(storing: Storing, name: string, by: string | undefined): string[] {
  if (by === undefined || !takesOutText(storing, by)) return []
  return [
    `The action '${name}' orders by ${by}, which is not stored as it came: its keys are shown as digests.`,
  ]
}

function eventIdWarnings(storing: Storing, { eventIdPath, provider, dedupe }: EventIds): string[] {
  const by = storedDedupe(dedupe)?.by
  const read = eventIdPath === null ? placesOf(provider) : [eventIdPath]
  return [
    ...read
      .filter((text) => takesOutText(storing, text))
      .map(
        (text) =>
          `The event id is read from ${text}, which is not stored as it came: its digest is shown instead.`,
      ),
    ...(by !== undefined && takesOutText(storing, by)
      ? [`\`dedupe\` compares ${by}, which is not stored as it came. It is compared before.`]
      : []),
  ]
}

function placesOf(provider: string | null): string[] {
  const places = provider === null ? [] : (findProvider(provider)?.eventId?.places ?? [])
  return places.map((place) => `${place.in === 'header' ? 'headers' : place.in}.${place.name}`)
}
