import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { CodeEditor } from '../editor/CodeEditor.tsx'
import { Button } from '../parts/Button.tsx'
import { Problem, Problems } from '../parts/Problem.tsx'
import { usePersisted } from '../parts/usePersisted.ts'
import { useSettled } from '../parts/useSettled.ts'
import { SamplePicker, useSample } from '../requests/SamplePicker.tsx'
import { creel, type Endpoint, type Inputs } from '../trpc.ts'
import { ordinal } from '../words/format.ts'
import { problemOf } from '../words/problem.ts'
import { useEndpointChange } from './useEndpointChange.ts'

type Answers = Pick<Inputs['endpoints']['update'], 'responses' | 'answerFrom'>

const EXAMPLE = `{
  "responses": [
    { "when": { "path": "body.type", "op": "eq", "value": "order.paid" }, "status": 500, "times": 2 }
  ],
  "answerFrom": null
}`

/** The answers of an endpoint other than its own: scripted ones, and that of a receiver. A preview shows which applies. */
export function AnswerSettings({ endpoint }: { endpoint: Endpoint }) {
  const saved = textOf(endpoint)
  const [text, setText, forget] = usePersisted(`answers ${endpoint.id}`, saved)
  const change = useEndpointChange(endpoint.id, forget)
  const problem = change.error === null ? null : problemOf(change.error)
  const answers = useMemo(() => read(text), [text])
  const marks = (problem?.items ?? []).map(({ pointer, detail }) => ({ pointer, detail }))
  const save = () => {
    if (answers !== undefined) change.mutate(answers)
  }
  return (
    <section className="card" aria-label="Scripted answers" id="answers">
      <h2>Scripted answers</h2>
      <p className="hint">
        The first response whose <code>when</code> holds and that has <code>times</code> left answers in place
        of the endpoint. <code>answerFrom</code> lets the receiver of an action answer.
      </p>
      <div className="two">
        <div>
          <CodeEditor label="Answers" value={text} onChange={setText} marks={marks} onSave={save} />
          <Problems
            of={problem === null ? [] : [problem.detail, ...problem.items.map(({ detail }) => detail)]}
          />
          <div className="form-foot">
            <Button
              look="primary"
              disabled={change.isPending || answers === undefined || text === saved}
              onClick={save}
            >
              {change.isPending ? 'Saving…' : 'Save answers'}
            </Button>
            {text !== saved && <Button onClick={forget}>Cancel</Button>}
            {endpoint.responses.length === 0 && text === saved && (
              <Button onClick={() => setText(EXAMPLE)}>Insert an example</Button>
            )}
            {answers === undefined && <span className="warn">This is not valid JSON yet.</span>}
          </div>
          <Counts endpoint={endpoint} />
        </div>
        <AnswerPreview endpointId={endpoint.id} responses={answers?.responses ?? undefined} />
      </div>
    </section>
  )
}

/** How often the responses with `times` have answered. */
function Counts({ endpoint }: { endpoint: Endpoint }) {
  const reset = useEndpointChange(
    endpoint.id,
    () => {},
    () => creel.endpoints.resetResponses.mutate({ endpointId: endpoint.id }),
  )
  const counted = endpoint.responses.flatMap(({ times, used }, index) =>
    times === null || times === undefined ? [] : [`${ordinal(index + 1)}: ${used ?? 0} of ${times}`],
  )
  if (counted.length === 0) return null
  return (
    <p className="acts">
      <span className="hint">Answered so far: {counted.join(', ')}</span>
      <Button look="small" disabled={reset.isPending} onClick={() => reset.mutate({})}>
        Reset the counts
      </Button>
    </p>
  )
}

function AnswerPreview({
  endpointId,
  responses,
}: {
  readonly endpointId: string
  readonly responses: Answers['responses']
}) {
  const sample = useSample(endpointId)
  const settled = useSettled(JSON.stringify(responses))
  const preview = useQuery({
    queryKey: ['answer preview', endpointId, sample.id, settled],
    queryFn: () =>
      creel.endpoints.previewResponses.mutate({
        endpointId,
        requestId: sample.id,
        ...(settled === undefined ? {} : { responses: JSON.parse(settled) }),
      }),
    enabled: sample.id > 0 && settled !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  if (sample.isNone)
    return <p className="hint">No captures yet. The preview shows the answer to a captured request.</p>
  const { data } = preview
  return (
    <div>
      <SamplePicker sample={sample} />
      <Problem error={sample.error} />
      {preview.error !== null && <Problem error={preview.error} />}
      {preview.error === null && data !== undefined && (
        <>
          <p role="status">
            {data.index === null
              ? 'This one would be answered by the endpoint.'
              : `This one would be answered by the ${ordinal(data.index + 1)} response.`}{' '}
            {data.note}
          </p>
          <pre className="sees">
            {data.status} {data.contentType}
            {'\n\n'}
            {data.body}
          </pre>
        </>
      )}
    </div>
  )
}

function textOf({ responses, answerFrom }: Endpoint): string {
  const written = responses.map(({ used: _used, ...response }) => response)
  return JSON.stringify({ responses: written, answerFrom }, null, 2)
}

/** Undefined while the text is no JSON object. */
function read(text: string): Answers | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined
    const { responses = [], answerFrom = null }: Answers = parsed
    return { responses, answerFrom }
  } catch {
    return undefined
  }
}
