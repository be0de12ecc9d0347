import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import { Button } from '../parts/Button.tsx'
import { Select } from '../parts/Field.tsx'
import { shapeQuery } from '../queries.ts'
import { type Draft, EMPTY_LEAF, type GroupDraft, type LeafDraft, OPS } from './model.ts'

const FACTS = ['label', 'method', 'path', 'contentType', 'ip', 'sizeBytes', 'verification.verdict'] as const
const MODES = [
  { value: 'all', words: 'All of' },
  { value: 'any', words: 'Any of' },
  { value: 'not', words: 'Not all of' },
] as const
const OPTIONS = OPS.map(([value, words]) => ({ value, words }))
const YES_NO = [
  { value: 'true', words: 'yes' },
  { value: 'false', words: 'no' },
]
const TEXT_OPS = new Set(['eq', 'neq', 'in', 'nin', 'startsWith', 'endsWith', 'contains', 'like'])
const DEPTH_MAX = 3

interface Props {
  readonly endpointId: string
  readonly draft: GroupDraft
  readonly onChange: (draft: GroupDraft) => void
}

/** Builder of a condition. Suggests paths from the captures, each with an example. */
export function ConditionBuilder({ endpointId, draft, onChange }: Props) {
  const shape = useQuery(shapeQuery(endpointId))
  const paths = useId()
  return (
    <div className="condition">
      <Group draft={draft} depth={0} paths={paths} onChange={onChange} />
      <datalist id={paths}>
        {FACTS.map((fact) => (
          <option key={fact} value={fact} />
        ))}
        {shape.data?.paths.map(({ path, example, share, types }) => (
          <option key={path} value={path}>
            {`${types.join(' or ')} in ${Math.round(share * 100)} %, e.g. ${example.slice(0, 60)}`}
          </option>
        ))}
      </datalist>
    </div>
  )
}

interface GroupProps {
  readonly draft: GroupDraft
  readonly depth: number
  /** Id of the list of known paths. */
  readonly paths: string
  readonly onChange: (draft: GroupDraft) => void
  readonly onRemove?: () => void
}

function Group({ draft, depth, paths, onChange, onRemove }: GroupProps) {
  const { items, mode } = draft
  const put = (at: number, item: Draft | undefined) => {
    const next = item === undefined ? items.toSpliced(at, 1) : items.with(at, item)
    onChange({ ...draft, items: next })
  }
  const add = (item: Draft) => onChange({ ...draft, items: [...items, item] })
  return (
    <fieldset className="group">
      <legend className="sr-only">Group of conditions</legend>
      <div className="acts">
        {items.length === 0 && depth === 0 ? (
          <span>Always</span>
        ) : (
          <Select
            label="Conditions that must match"
            value={mode}
            options={depth > 0 ? MODES : MODES.slice(0, 2)}
            onChange={(next) => onChange({ ...draft, mode: next })}
          />
        )}
        {onRemove !== undefined && <Remove label="Remove the group" onRemove={onRemove} />}
      </div>
      {items.map((item, at) =>
        item.kind === 'group' ? (
          <Group
            // biome-ignore lint/suspicious/noArrayIndexKey: comparisons have no names, and are edited in place
            key={at}
            draft={item}
            depth={depth + 1}
            paths={paths}
            onChange={(next) => put(at, next)}
            onRemove={() => put(at, undefined)}
          />
        ) : (
          <Leaf
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            key={at}
            leaf={item}
            paths={paths}
            onChange={(next) => put(at, next)}
            onRemove={() => put(at, undefined)}
          />
        ),
      )}
      <div className="acts">
        <Button look="small" onClick={() => add(EMPTY_LEAF)}>
          <Plus size={12} /> Condition
        </Button>
        {depth < DEPTH_MAX && (
          <Button look="small quiet" onClick={() => add({ kind: 'group', mode: 'any', items: [EMPTY_LEAF] })}>
            <Plus size={12} /> Group
          </Button>
        )}
      </div>
    </fieldset>
  )
}

interface LeafProps {
  readonly leaf: LeafDraft
  readonly paths: string
  readonly onChange: (leaf: LeafDraft) => void
  readonly onRemove: () => void
}

function Leaf({ leaf, paths, onChange, onRemove }: LeafProps) {
  const { ignoreCase, op, path, value } = leaf
  return (
    <div className="leaf">
      <input
        className="input mono"
        aria-label="Path"
        list={paths}
        placeholder="body.type"
        value={path}
        spellCheck={false}
        onChange={({ target }) => onChange({ ...leaf, path: target.value })}
      />
      <Select
        label="Comparison"
        value={op}
        options={OPTIONS}
        onChange={(next) =>
          onChange({ ...leaf, op: next, value: next === 'exists' ? 'true' : op === 'exists' ? '' : value })
        }
      />
      {op === 'exists' ? (
        <Select
          label="Exists"
          value={value}
          options={YES_NO}
          onChange={(next) => onChange({ ...leaf, value: next })}
        />
      ) : (
        <input
          className="input mono"
          aria-label="Value"
          placeholder={op === 'in' || op === 'nin' ? 'a, b, c' : op === 'like' ? 'invoice.*' : 'invoice.paid'}
          value={value}
          spellCheck={false}
          onChange={({ target }) => onChange({ ...leaf, value: target.value })}
        />
      )}
      {TEXT_OPS.has(op) ? (
        <label className="check" title="Ignore upper and lower case">
          <input
            type="checkbox"
            checked={ignoreCase}
            onChange={({ target }) => onChange({ ...leaf, ignoreCase: target.checked })}
          />
          Aa
          <span className="sr-only">: ignore case</span>
        </label>
      ) : (
        <span />
      )}
      <Remove label="Remove the condition" onRemove={onRemove} />
    </div>
  )
}

function Remove({ label, onRemove }: { label: string; onRemove: () => void }) {
  return (
    <Button look="quiet icon" label={label} onClick={onRemove}>
      <X size={14} />
    </Button>
  )
}
