import { useCall } from '../parts/useCall.ts'
import { Button } from '../parts/Button.tsx'
import { Writes } from '../parts/Writes.tsx'
import { type Answers, creel, type RequestDetail } from '../trpc.ts'
import { problemOf } from '../words/problem.ts'
import { visible } from '../words/visible.ts'

/** The callback of a handshake, with a button that calls it; nothing for any other request. */
export function HandshakeLine({ endpointId, request }: { endpointId: string; request: RequestDetail }) {
  const confirm = useCall(() => creel.requests.confirm.mutate({ endpointId, requestId: request.id }))
  const callback = request.rawHeaders.find(({ name }) => name.toLowerCase() === 'webhook-request-callback')
  if (request.method !== 'OPTIONS' || callback === undefined) return null
  return (
    <p className="pad acts">
      <span className="hint">
        The sender takes a confirmation at <code>{visible(callback.value)}</code>
      </span>
      <Writes>
        <Button
          disabled={confirm.isPending}
          onClick={() => confirm.mutate()}
          title="Calls this URL once, with GET"
        >
          {confirm.isPending ? 'Calling…' : 'Confirm the handshake'}
        </Button>
      </Writes>
      <output className="outcome" aria-live="polite">
        {confirm.error !== null && <span className="bad">{problemOf(confirm.error).detail}</span>}
        {confirm.data !== undefined && outcomeWords(confirm.data)}
      </output>
    </p>
  )
}

function outcomeWords({ statusCode, outcome, detail, body }: Answers['requests']['confirm']): string {
  if (statusCode === null) return `No answer: ${outcome}${detail === null ? '' : `, ${visible(detail)}`}`
  return `It answered ${statusCode}${body === null ? '' : `: ${visible(body.slice(0, 200))}`}`
}
