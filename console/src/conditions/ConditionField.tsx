import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { CodeEditor } from '../editor/CodeEditor.tsx'
import { isRecord, parsed, readJson } from '../json.ts'
import { Segments } from '../parts/Segments.tsx'
import { creel } from '../trpc.ts'
import { useSettled } from '../usePersisted.ts'
import { count } from '../words/format.ts'
import { itemsAt, type ProblemWords } from '../words/problem.ts'
import { ConditionBuilder } from './ConditionBuilder.tsx'
import { ALWAYS, conditionOf, draftOf, EMPTY_LEAF, type GroupDraft } from './model.ts'

/** Draft of a condition: the builder's draft, or JSON text. */
export type ConditionText =
  | { readonly as: 'builder'; readonly draft: GroupDraft }
  | { readonly as: 'json'; readonly text: string }

/** Draft of a condition; in the builder if that can show it. A text is one that is no JSON yet. */
export function textOfCondition(document: unknown): ConditionText {
  if (typeof document === 'string') return { as: 'json', text: document }
  const draft = draftOf(document)
  return draft === null ? { as: 'json', text: JSON.stringify(document, null, 2) } : { as: 'builder', draft }
}

/** Draft of a new condition: on the value of a body that the user came from, else one that matches every request. */
export function conditionOfAddress(params: URLSearchParams): ConditionText {
  const path = params.get('path')
  if (path === null) return { as: 'builder', draft: ALWAYS }
  const leaf = { ...EMPTY_LEAF, path, value: plainOf(params.get('value') ?? '') }
  return { as: 'builder', draft: { kind: 'group', mode: 'all', items: [leaf] } }
}

/** Removes the quotes of a JSON string unless the text would then be read as another type. */
function plainOf(json: string): string {
  const plain = /^"([^"\\]*)"$/.exec(json)?.[1]
  return plain === undefined || plain === '' || /^(-?\d|true$|false$|null$|[[{"\s])/.test(plain)
    ? json
    : plain
}

/** @returns the document, or undefined while its JSON cannot be read */
export function documentOfText(condition: ConditionText): unknown {
  return condition.as === 'builder' ? conditionOf(condition.draft) : parsed(condition.text)
}

/** The document, or its text where that is no JSON, which the API refuses at its member. */
export const writtenOf = (condition: ConditionText): unknown =>
  documentOfText(condition) ?? (condition.as === 'json' ? condition.text : {})

interface Props {
  readonly endpointId: string
  readonly label: string
  readonly value: ConditionText
  readonly onChange: (value: ConditionText) => void
  /** The API's input member for the condition; its problems are shown here. */
  readonly member: string
  readonly problems: ProblemWords | null
}

/** Field for a condition, in the builder or as JSON: both edit the same document. */
export function ConditionField({ endpointId, label, value, onChange, member, problems }: Props) {
  const name = useId()
  const [refusal, setRefusal] = useState('')
  const prefix = `#/${member}`
  const items = itemsAt(problems, member)
  const document = documentOfText(value)
  const show = (as: 'builder' | 'json') => {
    setRefusal('')
    if (as === value.as) return
    if (value.as === 'builder') {
      onChange({ as: 'json', text: JSON.stringify(conditionOf(value.draft), null, 2) })
      return
    }
    const draft = draftOf(value.text.trim() === '' ? {} : document)
    if (draft === null) setRefusal('The builder cannot show this condition. Edit it as JSON.')
    else onChange({ as: 'builder', draft })
  }
  return (
    <section className="field" aria-labelledby={name}>
      <div className="acts">
        <span id={name} className="label grow">
          {label}
        </span>
        <Segments
          label="Edit as"
          value={value.as}
          options={[
            { value: 'builder', words: 'Builder' },
            { value: 'json', words: '{…} JSON' },
          ]}
          onChange={show}
        />
      </div>
      {value.as === 'builder' ? (
        <ConditionBuilder
          endpointId={endpointId}
          draft={value.draft}
          onChange={(draft) => onChange({ as: 'builder', draft })}
        />
      ) : (
        <CodeEditor
          label={label}
          value={value.text}
          onChange={(text) => onChange({ as: 'json', text })}
          marks={items.map(({ pointer, detail }) => ({
            pointer: `#${pointer.slice(prefix.length)}`,
            detail,
          }))}
        />
      )}
      <ConditionTest endpointId={endpointId} condition={document} />
      {!isRecord(document) && <p className="warn">This is not a JSON object yet.</p>}
      {(refusal !== '' || items.length > 0) && (
        <p className="field-problem" role="alert">
          {[refusal, ...items.map(({ detail }) => detail)].join(' ')}
        </p>
      )}
    </section>
  )
}

const LAST = 500
const LINKS = 5

interface ConditionTestProps {
  readonly endpointId: string
  /** Undefined while it cannot be parsed. */
  readonly condition: unknown
}

/** Evaluates a condition against the newest captures. Shows nothing while the condition is incomplete. */
function ConditionTest({ endpointId, condition }: ConditionTestProps) {
  const settled = useSettled(JSON.stringify(condition))
  const tried = useQuery({
    queryKey: ['condition', endpointId, settled],
    queryFn: () => {
      const document: Record<string, unknown> = Object(readJson(settled ?? '{}'))
      return creel.conditions.try.mutate({ endpointId, condition: document, last: LAST })
    },
    enabled: settled !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const { data } = tried
  if (data === undefined || tried.error !== null) return null
  if (data.testedCount === 0) return <p className="hint">No captures yet to test the condition on.</p>
  const { matched, notMatched, testedCount } = data
  return (
    <div className="condition-test" role="status" data-stale={tried.isPlaceholderData}>
      <p>
        Of the last <b className="num">{count(testedCount)}</b>:{' '}
        <b className="ok num">{count(matched.count)}</b> match,{' '}
        <b className="num">{count(notMatched.count)}</b> do not match.
      </p>
      <div className="meter-bar" aria-hidden="true">
        <i style={{ inlineSize: `${(matched.count / testedCount) * 100}%` }} />
      </div>
      <p className="hint">
        <Ids words="matching" endpointId={endpointId} ids={matched.firstIds} />
        {matched.count > 0 && notMatched.count > 0 && ' · '}
        <Ids words="not matching" endpointId={endpointId} ids={notMatched.firstIds} />
      </p>
    </div>
  )
}

function Ids({ words, endpointId, ids }: { words: string; endpointId: string; ids: readonly number[] }) {
  if (ids.length === 0) return null
  return (
    <>
      {words}:{' '}
      {ids.slice(0, LINKS).map((id, at) => (
        <span key={id}>
          {at > 0 && ', '}
          <a className="link" href={`/console/e/${endpointId}?r=${id}`} target="_blank" rel="noreferrer">
            #{id}
          </a>
        </span>
      ))}
      {ids.length > LINKS && ' …'}
    </>
  )
}
