import { actionWarnings, listActions } from '../actions/index.ts'
import {
  conditionWarnings,
  type EndpointRow,
  type StoringInput,
  storedDedupe,
  type TakenOut,
  takenOutOf,
} from '../endpoints/index.ts'
import { storedColumns } from '../engine/columns/index.ts'
import { storedCondition } from '../engine/conditions/index.ts'
import { takesOut, takesOutText } from '../engine/storing/index.ts'
import { eventIdPathOf, eventIdReads } from '../engine/verification/index.ts'
import type { Db, Trx } from '../platform/db/index.ts'
import { listMatches } from '../watchdogs/index.ts'

type Readers = Pick<EndpointRow, 'id' | 'provider' | 'eventIdPath' | 'dedupe' | 'columns'>

/**
 * Names what reads a value that rules for storing take out: conditions and orders of actions, the event id, watchdogs,
 * columns. All but columns work on the request as it came, so a capture is handled as before. Later readers, like a
 * replay, see what is stored.
 */
export async function storingWarnings(
  db: Db | Trx,
  endpoint: Readers,
  input: StoringInput,
): Promise<string[]> {
  const taken = takenOutOf(endpoint, input)
  if (taken === null) return []
  const [actions, watchdogs] = [await listActions(db, endpoint.id), await listMatches(db, endpoint.id)]
  return [
    ...eventIdWarnings(taken, endpoint),
    ...actions.flatMap((action) => actionWarnings(taken, action)),
    ...watchdogs.flatMap(({ name, match }) =>
      conditionWarnings(taken, `watchdog '${name}'`, storedCondition(match)),
    ),
    ...storedColumns(endpoint.columns)
      .filter(({ path }) => takesOut(taken.storing, path, taken.provider))
      .map(({ text }) => `The column ${text} shows what is stored, because that value is taken out.`),
  ]
}

function eventIdWarnings({ storing, provider }: TakenOut, { eventIdPath, dedupe }: Readers): string[] {
  const by = storedDedupe(dedupe)?.by
  const read = new Set(eventIdReads(eventIdPathOf(eventIdPath), provider))
  const hidden = [...read].filter((text) => takesOutText(storing, text, provider))
  return [
    ...(hidden.length > 0
      ? [
          `The event id is read from ${hidden.join(', ')}, which is not stored as it came: its digest is shown instead.`,
        ]
      : []),
    ...(by !== undefined && by !== 'event' && takesOutText(storing, by, provider)
      ? [`\`dedupe\` compares ${by}, which is not stored as it came. It is compared before.`]
      : []),
  ]
}
