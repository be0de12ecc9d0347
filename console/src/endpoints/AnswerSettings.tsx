import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { CodeEditor } from '../editor/CodeEditor.tsx'
import { readJson } from '../json.ts'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem, Problems } from '../parts/Problem.tsx'
import { SamplePicker, useSample } from '../parts/SamplePicker.tsx'
import { creel, type Endpoint } from '../trpc.ts'
import { useSettled } from '../usePersisted.ts'
import { ordinal } from '../words/format.ts'
import { answersOf, type Members, type SettingsForm } from './settingsDraft.ts'
import { useEndpointCall } from './useEndpointCall.ts'

const EXAMPLE = `{
  "responses": [
    { "when": { "path": "body.type", "op": "eq", "value": "order.paid" }, "status": 500, "times": 2 }
  ],
  "answerFrom": null
}`

/** The answers of an endpoint other than its own: scripted ones, and that of a receiver. A preview shows which applies. */
export function AnswerSettings({ endpoint, form }: { endpoint: Endpoint; form: SettingsForm }) {
  const { answers: text } = form.draft
  const answers = useMemo(() => answersOf(text), [text])
  const wrong = (form.problem?.items ?? []).filter(({ pointer }) =>
    /^#\/(responses|answerFrom)/.test(pointer),
  )
  const marks = wrong.map(({ pointer, detail }) => ({ pointer, detail }))
  form.at('responses')
  form.at('answerFrom')
  const change = (next: string) => form.change({ answers: next })
  return (
    <Card title="Scripted answers" id="answers">
      <p className="hint">
        The first response whose <code>when</code> holds and that has <code>times</code> left answers in place
        of the endpoint. <code>answerFrom</code> lets the receiver of an action answer.
      </p>
      <div className="two">
        <div className="form">
          <CodeEditor
            label="Answers"
            value={text}
            onChange={change}
            marks={marks}
            onSave={() => form.submit()}
          />
          <Problems of={wrong.map(({ detail }) => detail)} />
          <p className="acts">
            {answers?.responses?.length === 0 && (
              <Button look="small" onClick={() => change(EXAMPLE)}>
                Insert an example
              </Button>
            )}
            {answers === undefined && <span className="warn">This is not valid JSON yet.</span>}
          </p>
          <Counts endpoint={endpoint} />
        </div>
        <AnswerPreview endpointId={endpoint.id} responses={answers?.responses ?? undefined} />
      </div>
    </Card>
  )
}

/** How often the responses with `times` have answered. */
function Counts({ endpoint }: { endpoint: Endpoint }) {
  const reset = useEndpointCall(endpoint.id, () =>
    creel.endpoints.resetResponses.mutate({ endpointId: endpoint.id }),
  )
  const counted = endpoint.responses.flatMap(({ times, used }, index) =>
    times === null || times === undefined ? [] : [`${ordinal(index + 1)}: ${used ?? 0} of ${times}`],
  )
  if (counted.length === 0) return null
  return (
    <p className="acts">
      <span className="hint">Answered so far: {counted.join(', ')}</span>
      <Button look="small" {...reset.button()}>
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
  readonly responses: Members['responses']
}) {
  const sample = useSample(endpointId)
  const settled = useSettled(JSON.stringify(responses))
  const preview = useQuery({
    queryKey: ['answer preview', endpointId, sample.id, settled],
    queryFn: () =>
      creel.endpoints.previewResponses.mutate({
        endpointId,
        requestId: sample.id,
        ...(settled === undefined ? {} : { responses: Object(readJson(settled)) }),
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
