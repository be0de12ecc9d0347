import { useQuery } from '@tanstack/react-query'
import { CheckField, TextField } from '../parts/Field.tsx'
import { FormDialog } from '../parts/FormFoot.tsx'
import { Problem } from '../parts/Problem.tsx'
import { useForm } from '../parts/useForm.ts'
import { creel } from '../trpc.ts'
import { attemptErrorWords } from '../words/attemptError.ts'
import { duration } from '../words/format.ts'
import { isUnderWay, type ReplayResult, type ReplayRun } from './queries.ts'

interface Props {
  readonly endpointId: string
  readonly requestId: number
  readonly onClose: () => void
}

const LOOK_EVERY_MS = 300

/** Sends one captured request to a URL, as it was captured, and shows the answer. */
export function ReplayToUrl({ endpointId, requestId, onClose }: Props) {
  const form = useForm({
    keptAs: 'replay to url',
    begin: (): { url: string; appendPath: boolean } => ({ url: '', appendPath: false }),
    save: ({ appendPath, url }) =>
      creel.replays.start.mutate({
        endpointId,
        select: { requestIds: [requestId] },
        to: { url: url.trim(), appendPath },
      }),
  })
  const replayId = form.saved?.replay?.id
  const result = useQuery({
    queryKey: ['replay to url', endpointId, replayId],
    queryFn: async () => {
      const of = { endpointId, replayId: replayId ?? '' }
      const run = await creel.replays.get.query(of)
      const { items } = await creel.replays.results.query(of)
      return { run, item: items[0] }
    },
    enabled: replayId !== undefined,
    refetchInterval: ({ state }) => (state.error !== null || isOver(state.data) ? false : LOOK_EVERY_MS),
  })
  const isWaiting = replayId !== undefined && result.error === null && !isOver(result.data)
  const isSending = form.isSaving || isWaiting
  return (
    <FormDialog
      title={`Replay #${requestId} to a URL`}
      form={form}
      submit={isWaiting ? 'Sending…' : 'Send'}
      busy="Sending…"
      cancel="Close"
      isOff={isWaiting || form.draft.url.trim() === ''}
      onClose={onClose}
    >
      <TextField
        label="URL"
        kind="url"
        placeholder="https://staging.example.com/hooks"
        hint={`Sent as captured, once. To a server on your machine: creel replay ${requestId} --to 3000`}
        {...form.field('url', 'to/url')}
      />
      <CheckField label="Append the captured path and query" {...form.field('appendPath', 'to/appendPath')} />
      <Problem error={result.error} />
      <output aria-live="polite">
        {result.data !== undefined && !isSending && <End of={result.data} />}
      </output>
    </FormDialog>
  )
}

interface Sent {
  readonly run: ReplayRun
  readonly item: ReplayResult | undefined
}

const isAnswered = ({ item }: Sent): boolean => item?.state === 'done' || item?.state === 'errored'

const isOver = (sent: Sent | undefined): boolean =>
  sent !== undefined && (isAnswered(sent) || !isUnderWay(sent.run))

function End({ of }: { of: Sent }) {
  if (of.item !== undefined && isAnswered(of)) return <Answer of={of.item} />
  const { state, reason } = of.run
  return <p className="bad">{`The replay has ended: ${reason ?? state}`}</p>
}

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
