import { gathering } from '../../api/gathering.ts'
import { type Db, run, statement } from '../../platform/db/index.ts'

const ANSWERED = statement(
  'note answers of requests',
  `update requests r set answered_by = a.answered_by
   from unnest($2::bigint[], $3::text[]) as a (id, answered_by)
   where r.endpoint_id = $1::uuid and r.id = a.id`,
)

/** The source of the answer to a sender. */
export interface AnsweredBy {
  /** `endpoint` is its own answer, in place of one that could not be given: `note` says why. */
  readonly kind: 'response' | 'action' | 'fallback' | 'endpoint'
  /** Index in `responses`; null for other kinds. */
  readonly index: number | null
  readonly note: string | null
}

const noteTogether = gathering<{ endpointId: string; requestId: number; by: AnsweredBy }, void>(
  async (db, answers) => {
    const ids = answers.map(({ requestId }) => requestId)
    const texts = answers.map(({ by }) => JSON.stringify(by))
    await run(db, ANSWERED, [answers[0].endpointId, ids, texts])
    return answers.map(() => undefined)
  },
)

/** Stores with a request what answered its sender. */
export function noteAnswer(db: Db, endpointId: string, requestId: number, by: AnsweredBy): Promise<void> {
  return noteTogether(db, endpointId, { endpointId, requestId, by })
}
