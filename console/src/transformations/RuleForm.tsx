import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { ConditionField, textOfCondition, writtenOf } from '../conditions/ConditionField.tsx'
import { isJson, isRecord, parsed } from '../json.ts'
import { Button } from '../parts/Button.tsx'
import { Select, TextField } from '../parts/Field.tsx'
import { MoveButtons } from '../parts/Menu.tsx'
import { linesOf } from '../words/headers.ts'
import { type ProblemWords, problemAt } from '../words/problem.ts'

type Members = Readonly<Record<string, unknown>>

/** Types of the members of steps: a list of paths, a text, any value, or the arguments of a function. */
type Kind = 'paths' | 'text' | 'value' | 'args'

interface StepKind {
  readonly words: string
  readonly members: Readonly<Record<string, readonly [label: string, kind: Kind, placeholder: string]>>
}

const PATHS = { paths: ['Paths, one per line', 'paths', 'body.customer.email'] } as const
const PATH = { path: ['Path', 'text', 'body.status'] } as const

const STEPS: Readonly<Record<string, StepKind>> = {
  keep: { words: 'Keep only', members: PATHS },
  remove: { words: 'Remove', members: PATHS },
  redact: { words: 'Redact', members: { ...PATHS, with: ['With', 'text', '***'] } },
  hash: { words: 'Hash', members: PATHS },
  rename: {
    words: 'Rename',
    members: { from: ['From', 'text', 'body.id'], to: ['To', 'text', 'body.orderId'] },
  },
  set: { words: 'Set', members: { ...PATH, value: ['Value', 'value', '"paid", 12, true or JSON'] } },
  template: {
    words: 'Fill in a template',
    members: { ...PATH, template: ['Template', 'text', 'Order {{ body.id }}'] },
  },
  compute: {
    words: 'Compute',
    members: {
      ...PATH,
      fn: ['Function', 'text', 'upper'],
      args: ['Arguments, as JSON', 'args', '["body.name"]'],
    },
  },
}

/** Values of the members of a new step; `with` has a default. */
const FIRST: Readonly<Record<Kind, unknown>> = { paths: [], text: '', value: '', args: [] }

/** A rule that the form can show: steps of known kinds, with members of the right types. */
export interface RuleDocument extends Members {
  readonly steps: readonly Members[]
}

/** The document, if the form can show it. */
export function formOf(document: unknown): RuleDocument | undefined {
  if (!isRecord(document) || !Array.isArray(document.steps)) return undefined
  const steps: unknown[] = document.steps
  return steps.every(isStep) ? { ...document, steps } : undefined
}

/** The parts of the rule at which the form shows what is wrong with them. */
export const membersOf = ({ steps }: RuleDocument): string[] => [
  'rule/name',
  'rule/when',
  ...steps.map((_step, at) => `rule/steps/${at}`),
]

function isStep(step: unknown): step is Members {
  return isRecord(step) && typeof step.op === 'string' && Object.hasOwn(STEPS, step.op)
}

interface Props {
  readonly endpointId: string
  readonly document: RuleDocument
  readonly problem: ProblemWords | null
  readonly onChange: (document: RuleDocument) => void
}

/** A rule as a form: its name, its condition, and a row for each step. */
export function RuleForm({ endpointId, document, problem, onChange }: Props) {
  const { name, steps, when } = document
  const [typed, setTyped] = useState(() => textOfCondition(when ?? {}))
  // As it was typed, while that means the condition of the document.
  const isOwn = JSON.stringify(writtenOf(typed)) === JSON.stringify(when ?? {})
  const change = (members: Members) => onChange({ ...document, ...members, steps: listOf(members) ?? steps })
  const move = (at: number, by: number) => change({ steps: moved(steps, at, by) })
  return (
    <div className="form">
      <TextField
        label="Name"
        value={typeof name === 'string' ? name : ''}
        problem={problemAt(problem, 'rule/name')}
        onChange={(typed) => change({ name: typed })}
      />
      <ConditionField
        endpointId={endpointId}
        label="When"
        member="rule/when"
        problems={problem}
        value={isOwn ? typed : textOfCondition(when ?? {})}
        onChange={(next) => {
          setTyped(next)
          change({ when: writtenOf(next) })
        }}
      />
      <ol className="cards" aria-label="Steps of the rule, in the order they run">
        {steps.map((step, at) => (
          <StepRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a step has no id
            key={at}
            at={at}
            step={step}
            problem={problemAt(problem, `rule/steps/${at}`)}
            onChange={(next) => change({ steps: steps.with(at, next) })}
            onMove={(by) => move(at, by)}
            onRemove={() => change({ steps: steps.toSpliced(at, 1) })}
          />
        ))}
      </ol>
      {steps.length === 0 && <p className="hint">No steps yet.</p>}
      <p className="acts">
        <Button onClick={() => change({ steps: [...steps, newStep('remove')] })}>
          <Plus size={14} /> Add step
        </Button>
      </p>
    </div>
  )
}

const listOf = ({ steps }: Members) => (Array.isArray(steps) ? steps.filter(isStep) : undefined)

function moved(steps: readonly Members[], at: number, by: number): readonly Members[] {
  const one = steps[at]
  return one === undefined || at + by < 0 || at + by >= steps.length
    ? steps
    : steps.toSpliced(at, 1).toSpliced(at + by, 0, one)
}

function newStep(op: string, { paths }: Members = {}): Members {
  const members = Object.entries(STEPS[op]?.members ?? {}).filter(([name]) => name !== 'with')
  const first = members.map(([name, [, kind]]) => [
    name,
    kind === 'paths' && Array.isArray(paths) ? paths : FIRST[kind],
  ])
  return { op, ...Object.fromEntries(first) }
}

interface RowProps {
  readonly at: number
  readonly step: Members
  readonly problem: string
  readonly onChange: (step: Members) => void
  readonly onMove: (by: number) => void
  readonly onRemove: () => void
}

function StepRow({ at, step, problem, onChange, onMove, onRemove }: RowProps) {
  const op = String(step.op)
  const place = `step ${at + 1}`
  return (
    <li className="item step">
      <div className="acts">
        <span className="hint num">{at + 1}</span>
        <Select
          label={`Kind of ${place}`}
          value={op}
          options={Object.entries(STEPS).map(([value, { words }]) => ({ value, words }))}
          onChange={(next) => onChange(newStep(next, step))}
        />
        <span className="grow" />
        <MoveButtons name={place} onMove={onMove} />
        <Button look="quiet icon small" label={`Remove ${place}`} onClick={onRemove}>
          <X size={14} />
        </Button>
      </div>
      {Object.entries(STEPS[op]?.members ?? {}).map(([name, [label, kind, placeholder]]) => (
        <MemberField
          key={`${op} ${name}`}
          label={label}
          kind={kind}
          placeholder={placeholder}
          value={step[name]}
          onChange={(value) => {
            const { [name]: _old, ...rest } = step
            // An absent `with` is the default.
            onChange(name === 'with' && value === '' ? rest : { ...step, [name]: value })
          }}
        />
      ))}
      {problem !== '' && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </li>
  )
}

interface MemberProps {
  readonly label: string
  readonly kind: Kind
  readonly placeholder: string
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

/** A member as text. The text stays as it is typed while it means the value of the document. */
function MemberField({ label, kind, placeholder, value, onChange }: MemberProps) {
  const [typed, setTyped] = useState(() => textOf(kind, value))
  const isOwn = JSON.stringify(meaning(kind, typed)) === JSON.stringify(value)
  return (
    <TextField
      label={label}
      kind="code"
      rows={kind === 'paths' ? Math.max(2, typed.split('\n').length) : 1}
      placeholder={placeholder}
      value={isOwn ? typed : textOf(kind, value)}
      onChange={(text) => {
        setTyped(text)
        onChange(meaning(kind, text))
      }}
    />
  )
}

function textOf(kind: Kind, value: unknown): string {
  if (kind === 'paths' && Array.isArray(value)) return value.map(String).join('\n')
  if (typeof value === 'string' && (kind === 'text' || !isJson(value))) return value
  return value === undefined ? '' : JSON.stringify(value)
}

function meaning(kind: Kind, text: string): unknown {
  if (kind === 'paths') return linesOf(text).map((line) => line.trim())
  return kind === 'text' || !isJson(text) ? text : parsed(text)
}
