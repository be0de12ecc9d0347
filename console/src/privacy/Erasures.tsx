import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { download } from '../body/download.ts'
import { Button } from '../parts/Button.tsx'
import { Problems } from '../parts/Problem.tsx'
import { TextField } from '../parts/TextField.tsx'
import { type Answers, creel } from '../trpc.ts'
import { ago, fullTime } from '../words/format.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'

const POLL_MS = 2_000
const SHOWN = 20

type Erasure = Answers['erasures']['start']

/** Finds and deletes everything that holds a value, like the address of a person; lists what was erased. */
export function Erasures() {
  const queries = useQueryClient()
  const [value, setValue] = useState('')
  const [isAsked, setAsked] = useState(false)
  const erasures = useQuery({
    queryKey: ['erasures'],
    queryFn: () => creel.erasures.list.query({ page: 1, pageSize: SHOWN }),
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ finishedAt }) => finishedAt === null) === true ? POLL_MS : false,
  })
  const start = useMutation({
    mutationFn: (dryRun: boolean) => creel.erasures.start.mutate({ value: value.trim(), dryRun }),
    onSettled: async () => {
      setAsked(false)
      await queries.invalidateQueries({ queryKey: ['erasures'] })
    },
  })
  const report = useMutation({
    mutationFn: (erasureId: string) => creel.erasures.report.query({ erasureId }),
    onSuccess: ({ content, fileName }) => download(content, fileName),
  })
  const problem = start.error === null ? null : problemOf(start.error)
  const items = erasures.data?.items ?? []
  return (
    <section className="card" aria-label="Erasures">
      <h2>Forget a person</h2>
      <p className="hint">
        Deletes every capture, attempt, recorded answer and alert message of the workspace that holds a value.
        It cannot be undone. Backups are not changed.
      </p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          start.mutate(true)
        }}
      >
        <TextField
          label="Value"
          kind="code"
          value={value}
          problem={problemAt(problem, 'value')}
          placeholder="ada@example.com"
          hint="Found as a whole word, without case."
          onChange={(next) => {
            setValue(next)
            setAsked(false)
          }}
        />
        <Problems of={problemBeside(problem, ['value'])} />
        <div className="form-foot">
          <Button type="submit" look="primary" disabled={start.isPending || value.trim() === ''}>
            Count
          </Button>
          <Button
            look="danger"
            disabled={start.isPending || value.trim() === ''}
            onClick={() => (isAsked ? start.mutate(false) : setAsked(true))}
          >
            {isAsked ? 'Confirm: delete all of it' : 'Delete…'}
          </Button>
        </div>
      </form>
      <Problems
        of={[erasures.error, report.error].flatMap((error) => (error ? [problemOf(error).detail] : []))}
      />
      {items.length > 0 && (
        <div className="table-frame">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Asked for</th>
                <th scope="col">Result</th>
                <th scope="col">
                  <span className="sr-only">Report</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((erasure) => (
                <tr key={erasure.id}>
                  <th scope="row" title={fullTime(erasure.createdAt)}>
                    {ago(erasure.createdAt)}
                  </th>
                  <td>{wordsOf(erasure)}</td>
                  <td className="end">
                    <Button
                      look="small"
                      disabled={report.isPending}
                      onClick={() => report.mutate(erasure.id)}
                    >
                      Report
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function wordsOf({ counts, dryRun, progress, state }: Erasure): string {
  const { requests, binnedRequests, attempts, replayResults, alerts, agentEvents } = counts
  const others = replayResults + alerts + agentEvents
  const found = `${requests + binnedRequests} captures, ${attempts} attempts, ${others} others`
  if (state === 'failed') return `Failed after ${found}`
  if (state !== 'done') return `${progress.scannedRequests} captures looked through: ${found}`
  return dryRun ? `Found ${found}` : `Deleted ${found}`
}
