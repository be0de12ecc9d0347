import { useQuery } from '@tanstack/react-query'
import { Button, ConfirmButton } from '../parts/Button.tsx'
import { download } from '../parts/CopyButton.tsx'
import { TextField } from '../parts/Field.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem, Problems } from '../parts/Problem.tsx'
import { Table } from '../parts/Table.tsx'
import { useCall, useForm } from '../parts/useForm.ts'
import { type Answers, creel } from '../trpc.ts'
import { ago, fullTime, plural } from '../words/format.ts'

const POLL_MS = 2_000
const SHOWN = 20
const KEY = ['erasures']

type Erasure = Answers['erasures']['start']

/** Finds and deletes everything that holds a value, like the address of a person; lists what was erased. */
export function Erasures() {
  const erasures = useQuery({
    queryKey: KEY,
    queryFn: () => creel.erasures.list.query({ page: 1, pageSize: SHOWN }),
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ finishedAt }) => finishedAt === null) === true ? POLL_MS : false,
  })
  // Not kept in the browser: the value is what is to be forgotten.
  const form = useForm({
    begin: () => ({ value: '', dryRun: true }),
    save: ({ dryRun, value }) => creel.erasures.start.mutate({ value: value.trim(), dryRun }),
    stale: [KEY],
  })
  const report = useCall(
    (erasureId: string) => creel.erasures.report.query({ erasureId }),
    [],
    ({ content, fileName }) => download(content, fileName),
  )
  const isOff = form.isSaving || form.draft.value.trim() === ''
  const items = erasures.data?.items ?? []
  return (
    <Card title="Forget a person" name="Erasures">
      <p className="hint">
        Deletes every capture, attempt, recorded answer and alert message of the workspace that holds a value.
        It cannot be undone. Backups are not changed.
      </p>
      <form className="form" onSubmit={form.submit}>
        <TextField
          label="Value"
          kind="code"
          placeholder="ada@example.com"
          hint="Found as a whole word, without case."
          {...form.field('value')}
        />
        <Problems of={form.beside()} />
        <div className="form-foot">
          <Button type="submit" look="primary" disabled={isOff}>
            Count
          </Button>
          <ConfirmButton
            key={form.draft.value}
            disabled={isOff}
            confirm="Confirm: delete all of it"
            onConfirm={() => form.submit(undefined, { dryRun: false })}
          />
        </div>
      </form>
      <Problem error={erasures.error} onRetry={() => void erasures.refetch()} />
      <Problem error={report.error} />
      {items.length > 0 && (
        <Table heads={['Asked for', 'Result', 'Report']} hidden="Report">
          {items.map((erasure) => (
            <tr key={erasure.id}>
              <th scope="row" title={fullTime(erasure.createdAt)}>
                {ago(erasure.createdAt)}
              </th>
              <td>{wordsOf(erasure)}</td>
              <td className="end">
                <Button look="small" {...report.button(erasure.id)}>
                  Report
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  )
}

function wordsOf({ counts, dryRun, progress, state }: Erasure): string {
  const { requests, binnedRequests, attempts, replayResults, alerts, agentEvents, notes } = counts
  const others = replayResults + alerts + agentEvents + notes
  const found = `${plural(requests + binnedRequests, 'capture')}, ${plural(attempts, 'attempt')}, ${plural(others, 'other')}`
  if (state === 'failed') return `Failed after ${found}`
  if (state !== 'done') return `${progress.scannedRequests} captures looked through: ${found}`
  return dryRun ? `Found ${found}` : `Deleted ${found}`
}
