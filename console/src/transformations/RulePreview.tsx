import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { asRead } from '../body/asRead.ts'
import { readJson } from '../json.ts'
import { Problem } from '../parts/Problem.tsx'
import { SamplePicker, useSample } from '../parts/SamplePicker.tsx'
import { laidOut } from '../requests/editedDraft.ts'
import { type Answers, creel, type RequestDetail } from '../trpc.ts'
import { useSettled } from '../usePersisted.ts'
import { type DiffLine, diffLines } from '../words/diff.ts'
import { headerLines } from '../words/headers.ts'
import { problemOf } from '../words/problem.ts'
import type { Rule } from './queries.ts'

interface Props {
  readonly endpointId: string
  readonly actionId: string
  /** Saved rules that run before it. */
  readonly before: readonly Rule[]
  /** Undefined while it is not valid JSON. */
  readonly document: unknown
}

/** Applies the unsaved rule to a captured request; nothing is saved or sent. */
export function RulePreview({ endpointId, actionId, before, document }: Props) {
  const sample = useSample(endpointId)
  const sampleId = sample.id
  const all = document === undefined ? undefined : [...before.map(({ rule }) => rule), document]
  const settled = useSettled(JSON.stringify(all))
  const captured = useQuery({
    queryKey: ['request', endpointId, sampleId],
    queryFn: () => creel.requests.get.query({ endpointId, requestId: sampleId }),
    enabled: sampleId > 0,
    staleTime: 60_000,
  })
  const preview = useQuery({
    queryKey: ['preview', endpointId, actionId, sampleId, settled],
    queryFn: () =>
      creel.transformations.previewSet.mutate({
        endpointId,
        actionId,
        rules: Object(readJson(settled ?? '[]')),
        requestId: sampleId,
      }),
    enabled: sampleId > 0 && settled !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  // Not all that was captured is sent on: a forward without rules is what the headers are compared with.
  const plain = useQuery({
    queryKey: ['preview', endpointId, actionId, sampleId],
    queryFn: () =>
      creel.transformations.previewSet.mutate({ endpointId, actionId, rules: [], requestId: sampleId }),
    enabled: sampleId > 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  if (sample.isNone) {
    return (
      <p className="hint">No captures yet. The preview shows the result of the rule on a captured request.</p>
    )
  }
  const problem = preview.error === null ? null : problemOf(preview.error)
  return (
    <div>
      <SamplePicker sample={sample} />
      <Problem error={sample.error ?? captured.error ?? plain.error} />
      {problem !== null && (
        <p className="hint" role="status">
          {problem.items[0]?.detail ?? problem.detail}
        </p>
      )}
      {captured.data !== undefined && preview.data !== undefined && preview.error === null && (
        <Outcome before={captured.data} headersBefore={plain.data?.output?.headers} preview={preview.data} />
      )}
    </div>
  )
}

type Preview = Answers['transformations']['previewSet']
type Headers = NonNullable<Preview['output']>['headers']

interface OutcomeProps {
  readonly before: RequestDetail
  /** Headers of a forward without rules; undefined while they load. */
  readonly headersBefore: Headers | undefined
  readonly preview: Preview
}

function Outcome({ before, headersBefore, preview }: OutcomeProps) {
  const { note, output, rules } = preview
  const { body } = asRead(before)
  const lines = useMemo(
    () => (output === null || isTooLong(body) ? [] : diffLines(layout(body), layout(asRead(output).body))),
    [body, output],
  )
  const headers = useMemo(
    () =>
      output === null || headersBefore === undefined
        ? undefined
        : diffLines(headerLines(headersBefore), headerLines(output.headers)),
    [headersBefore, output],
  )
  return (
    <>
      <p>{note}</p>
      <ol className="steps" aria-label="Steps">
        {rules.flatMap((rule, at) =>
          rule.steps.map(({ changed, index, note: about, op }) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rules may share a name
            <li key={`${at} ${index}`}>
              <span className={changed ? 'ok' : 'hint'}>{changed ? 'changed' : 'no change'}</span>
              {rules.length > 1 && <span className="hint">{rule.name}</span>}
              <code>
                {index + 1}. {op}
              </code>
              <span className="hint">{about}</span>
            </li>
          )),
        )}
        {rules.map(({ fault, name }) =>
          fault === null ? null : (
            <li key={name} className="bad">
              Step {fault.stepIndex + 1} fails: {fault.detail}
            </li>
          ),
        )}
      </ol>
      {headers !== undefined && <HeaderChanges lines={headers} />}
      {output !== null && isTooLong(body) && (
        <p className="banner">The body is too long for a line-by-line diff.</p>
      )}
      {output !== null && !isTooLong(body) && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must by keyboard
        <section className="preview-out" aria-label="Body that would be sent" tabIndex={0}>
          <Lines lines={lines} />
        </section>
      )}
    </>
  )
}

/** Headers that a rule adds, changes or removes. */
function HeaderChanges({ lines }: { lines: readonly DiffLine[] }) {
  const changed = lines.filter(({ change }) => change !== 'same')
  if (changed.length === 0) return <p className="hint">Headers: no change</p>
  return (
    <section className="preview-out headers" aria-label="Changed headers">
      <Lines lines={changed} />
    </section>
  )
}

/** Lines of a difference, each with its mark. */
export function Lines({ lines }: { lines: readonly DiffLine[] }) {
  return lines.map(({ change, text }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines never move
    <p key={at} data-change={change}>
      <i>{change === 'added' ? '+' : change === 'removed' ? '−' : ''}</i>
      <span>{text}</span>
    </p>
  ))
}

const COMPARED_CHARACTERS_MAX = 500_000
const isTooLong = (body: string | null) => (body ?? '').length > COMPARED_CHARACTERS_MAX

/** A body as indented lines; digits and order are unchanged. */
const layout = (body: string | null): string[] => (body === null ? [] : (laidOut(body) ?? body).split('\n'))
