import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useAddress } from '../address.ts'
import { shapeQuery } from '../conditions/queries.ts'
import { CodeEditor } from '../editor/CodeEditor.tsx'
import { Button } from '../parts/Button.tsx'
import { ConflictNote } from '../parts/ConflictNote.tsx'
import { toast } from '../parts/toasts.ts'
import { useForm } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { creel, type Endpoint } from '../trpc.ts'
import { withModifier } from '../words/keys.ts'
import { problemOf } from '../words/problem.ts'
import { ruleSchemaQuery } from './queries.ts'
import { RulePreview } from './RulePreview.tsx'
import { RuleVersions } from './RuleVersions.tsx'
import type { Rule } from './rule.ts'

interface Props {
  readonly endpoint: Endpoint
  readonly actionId: string
  /** Undefined for a new rule. */
  readonly rule: Rule | undefined
  readonly onSaved: (ruleId: string) => void
  readonly onRemoved: () => void
}

/** Editor of one rule as JSON, with a preview on a captured request, and the rule's versions. */
export function RuleEditor({ endpoint, actionId, rule, onSaved, onRemoved }: Props) {
  const queries = useQueryClient()
  const [params] = useAddress()
  const schema = useQuery(ruleSchemaQuery)
  const shape = useQuery(shapeQuery(endpoint.id))
  const [isRemoving, setRemoving] = useState(false)
  const saved = rule === undefined ? undefined : textOf(rule)
  const ids = { endpointId: endpoint.id, actionId }
  const storedText = async (ruleId: string) => {
    const { rules } = await creel.transformations.getSet.query(ids)
    const now = rules.find(({ id }) => id === ruleId)
    return now === undefined ? undefined : { text: textOf(now) }
  }
  /** Replaces the draft by the stored version. */
  const showStored = async (ruleId: string) => {
    const now = await storedText(ruleId)
    if (now !== undefined) form.reset(now)
    form.forget()
    await refresh()
  }
  const form = useForm({
    keptAs: `rule ${actionId} ${rule === undefined ? `new ${params.get('path') ?? ''}` : rule.id}`,
    begin: () => ({ text: saved ?? startOf(params.get('path')) }),
    stored: rule === undefined ? undefined : () => storedText(rule.id),
    save: ({ text: typed }) => {
      const written = parse(typed) ?? typed
      return rule === undefined
        ? creel.transformations.create.mutate({ ...ids, rule: written })
        : creel.transformations.update.mutate({ ...ids, ruleId: rule.id, rule: written })
    },
    onSaved: async ({ id, name, version }) => {
      await showStored(id)
      toast(`${name} saved as v${version}`)
      onSaved(id)
    },
  })
  const { text } = form.draft
  const setText = (next: string) => form.change({ text: next })
  const document = useMemo(() => parse(text), [text])
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ['rules', endpoint.id] })
    await queries.invalidateQueries({ queryKey: ['actions', endpoint.id] })
  }
  const remove = useMutation({
    mutationFn: (ruleId: string) => creel.transformations.remove.mutate({ ...ids, ruleId }),
    onSuccess: async () => {
      form.forget()
      await refresh()
      onRemoved()
    },
  })
  const problem = form.problem ?? (remove.error === null ? null : problemOf(remove.error))
  const marks = (form.problem?.items ?? []).map(({ pointer, detail }) => ({
    pointer: pointer.replace(/^#\/(rule|body)(?=\/|$)/, '#'),
    detail,
  }))
  const paths = useMemo(() => shape.data?.paths.map(({ path }) => path) ?? [], [shape.data])
  const isChanged = text !== saved
  const next = rule === undefined ? 1 : rule.version + 1
  return (
    <section className="rule-grid" aria-label={rule?.name ?? 'New rule'}>
      <div>
        <CodeEditor
          label="Rule"
          value={text}
          onChange={setText}
          marks={marks}
          schema={schema.data}
          paths={paths}
          onSave={() => form.submit()}
        />
        {form.conflict !== null && <ConflictNote conflict={form.conflict} />}
        {problem !== null && (
          <div className="problem" role="alert">
            <p>{problem.detail}</p>
            <ul>
              {problem.items.map(({ detail, pointer }) => (
                <li key={pointer + detail}>
                  <code>{pointer}</code> {detail}
                </li>
              ))}
            </ul>
          </div>
        )}
        <div className="form-foot">
          <Writes>
            <Button
              look="primary"
              disabled={form.isSaving || !isChanged || form.conflict !== null}
              onClick={() => form.submit()}
            >
              {form.isSaving ? 'Saving…' : `Save as v${next}`} <kbd>{withModifier('S')}</kbd>
            </Button>
            {rule !== undefined && isChanged && (
              <Button onClick={() => setText(saved ?? '')}>Reset to v{rule.version}</Button>
            )}
            {document === undefined && <span className="warn">This is not valid JSON yet.</span>}
            <span className="grow" />
            {rule !== undefined && (
              <Button look="danger" onClick={() => (isRemoving ? remove.mutate(rule.id) : setRemoving(true))}>
                {isRemoving ? 'Confirm: delete rule and versions' : 'Delete…'}
              </Button>
            )}
          </Writes>
        </div>
        {rule !== undefined && (
          <RuleVersions
            endpointId={endpoint.id}
            actionId={actionId}
            rule={rule}
            onRestored={() => showStored(rule.id)}
          />
        )}
      </div>
      <RulePreview endpointId={endpoint.id} actionId={actionId} document={document} />
    </section>
  )
}

const textOf = ({ rule }: Rule) => JSON.stringify(rule, null, 2)

/** Draft of a new rule; it redacts the path that the user came from. */
function startOf(path: string | null): string {
  const step = path === null ? { op: 'remove', paths: ['body.example'] } : { op: 'redact', paths: [path] }
  return JSON.stringify(
    { version: 1, name: path === null ? 'New rule' : `Redact ${path.split('.').at(-1)}`, steps: [step] },
    null,
    2,
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
