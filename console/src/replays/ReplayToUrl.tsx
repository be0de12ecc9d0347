import { useMutation, useQuery } from '@tanstack/react-query'
import { Button } from '../parts/Button.tsx'
import { CheckField } from '../parts/CheckField.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { Problems } from '../parts/Problem.tsx'
import { TextField } from '../parts/TextField.tsx'
import { usePersisted } from '../parts/usePersisted.ts'
import { creel } from '../trpc.ts'
import { attemptErrorWords } from '../words/attemptError.ts'
import { duration } from '../words/format.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import type { ReplayResult } from './queries.ts'

interface Props {
  readonly endpointId: string
  readonly requestId: number
  readonly onClose: () => void
}

const LOOK_EVERY_MS = 300

/** Sends one captured request to a URL, as it was captured, and shows the answer. */
export function ReplayToUrl({ endpointId, requestId, onClose }: Props) {
  const [draft, setDraft] = usePersisted('replay to url', { url: '', appendPath: false })
  const start = useMutation({
    mutationFn: () =>
      creel.replays.start.mutate({
        endpointId,
        select: { requestIds: [requestId] },
        to: { url: draft.url.trim(), appendPath: draft.appendPath },
      }),
  })
  const replayId = start.data?.replay?.id
  const result = useQuery({
    queryKey: ['replay to url', endpointId, replayId],
    queryFn: async () => {
      const { items } = await creel.replays.results.query({ endpointId, replayId: replayId ?? '' })
      return items[0] ?? null
    },
    enabled: replayId !== undefined,
    refetchInterval: ({ state }) => (isOver(state.data) ? false : LOOK_EVERY_MS),
  })
  const wrong = start.error ?? result.error
  const problem = wrong === null ? null : problemOf(wrong)
  const isSending = start.isPending || (replayId !== undefined && wrong === null && !isOver(result.data))
  return (
    <Dialog title={`Replay #${requestId} to a URL`} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          start.mutate()
        }}
      >
        <TextField
          label="URL"
          kind="url"
          value={draft.url}
          problem={problemAt(problem, 'to/url')}
          placeholder="https://staging.example.com/hooks"
          hint={`Sent as captured, once. To a server on your machine: creel replay ${requestId} --to 3000`}
          onChange={(url) => setDraft({ ...draft, url })}
        />
        <CheckField
          label="Append the captured path and query"
          isOn={draft.appendPath}
          onChange={(appendPath) => setDraft({ ...draft, appendPath })}
        />
        <Problems of={problemBeside(problem, ['to/url'])} />
        <output aria-live="polite">{isOver(result.data) && !isSending && <Answer of={result.data} />}</output>
        <div className="dialog-foot">
          <Button type="submit" look="primary" disabled={isSending || draft.url.trim() === ''}>
            {isSending ? 'Sending…' : 'Send'}
          </Button>
          <Button onClick={onClose}>Close</Button>
        </div>
      </form>
    </Dialog>
  )
}

const isOver = (result: ReplayResult | null | undefined): result is ReplayResult =>
  result?.state === 'done' || result?.state === 'errored'

function Answer({ of: { body, bodyIsBinary, durationMs, error, statusCode } }: { of: ReplayResult }) {
  if (error !== null) return <p className="bad">{attemptErrorWords(error)}</p>
  return (
    <>
      <p>
        <b>{statusCode}</b> in {duration(durationMs)}
      </p>
      {body !== null && body !== '' && <pre className="sees">{bodyIsBinary ? 'Binary body' : body}</pre>}
    </>
  )
}
