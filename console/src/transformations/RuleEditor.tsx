import { type InvalidateOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useAddress } from '../address.ts'
import { CodeEditor } from '../editor/CodeEditor.tsx'
import { parsed } from '../json.ts'
import { Button, ConfirmButton } from '../parts/Button.tsx'
import { ConflictNote } from '../parts/FormFoot.tsx'
import { Problem, Problems } from '../parts/Problem.tsx'
import { Segments } from '../parts/Segments.tsx'
import { withModifier } from '../parts/shortcuts.ts'
import { toast } from '../parts/Toasts.tsx'
import { useCall, useForm } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { shapeQuery } from '../queries.ts'
import { creel, type Endpoint } from '../trpc.ts'
import { keepInput, usePersisted } from '../usePersisted.ts'
import { diffLines } from '../words/diff.ts'
import { ago, fullTime } from '../words/format.ts'
import { problemBeside, problemOf } from '../words/problem.ts'
import { type Rule, ruleSchemaQuery, versionsQuery } from './queries.ts'
import { formOf, membersOf, RuleForm } from './RuleForm.tsx'
import { Lines, RulePreview } from './RulePreview.tsx'

interface Props {
  readonly endpoint: Endpoint
  readonly actionId: string
  readonly rule: Rule | undefined
  /** The enabled rules that run before it, which the preview applies, too. */
  readonly before: readonly Rule[]
  readonly onSaved: (ruleId: string) => void
  readonly onRemoved: () => void
  /** Leaves a new rule; undefined if there is nothing else to show. */
  readonly onCancel: (() => void) | undefined
}

/** Editor of one rule as a form or as JSON, with a preview on a captured request, and the rule's versions. */
export function RuleEditor({ endpoint, actionId, rule, before, onSaved, onRemoved, onCancel }: Props) {
  const queries = useQueryClient()
  const [params] = useAddress()
  const schema = useQuery(ruleSchemaQuery)
  const shape = useQuery(shapeQuery(endpoint.id))
  const saved = rule === undefined ? undefined : textOf(rule)
  const ids = { endpointId: endpoint.id, actionId }
  const storedText = async (ruleId: string) => {
    const { rules } = await creel.transformations.getSet.query(ids)
    const now = rules.find(({ id }) => id === ruleId)
    return now === undefined ? undefined : { text: textOf(now) }
  }
  const stale = [
    ['rules', endpoint.id],
    ['actions', endpoint.id],
  ]
  const refresh = (options?: InvalidateOptions) =>
    Promise.all(stale.map((queryKey) => queries.invalidateQueries({ queryKey }, options)))
  const keptAs = (name: string) => `rule ${actionId} ${name}`
  /** Replaces the draft by the stored version. */
  const showStored = async (ruleId: string) => {
    const now = await storedText(ruleId)
    if (now !== undefined) form.reset(now)
    form.forget()
    await refresh()
  }
  const form = useForm({
    keptAs: keptAs(rule === undefined ? `new ${params.get('path') ?? ''}` : rule.id),
    begin: () => ({ text: saved ?? startOf(params.get('path')) }),
    stored: rule === undefined ? undefined : () => storedText(rule.id),
    save: ({ text: typed }) => {
      const written = parsed(typed) ?? typed
      return rule === undefined
        ? creel.transformations.create.mutate({ ...ids, rule: written })
        : creel.transformations.update.mutate({ ...ids, ruleId: rule.id, rule: written })
    },
    stale,
    tell: ({ name, version }) => toast(`${name} saved as v${version}`),
    onSaved: async ({ id }, typed) => {
      const { href } = location
      // The rule is made: a read that fails must not leave a form that makes it again.
      const began = rule === undefined ? await storedText(id).catch(() => undefined) : undefined
      // The form of the saved rule takes over, with what was typed since. The form of the first rule does
      // so as soon as the rule is read, others once all is read.
      const handOver = (draft: { text: string } | undefined) => {
        if (draft !== undefined && began !== undefined) keepInput(keptAs(id), { draft, began })
      }
      const before = typed()
      handOver(before)
      // The form has begun to read them.
      await refresh({ cancelRefetch: false })
      const after = typed()
      if (after !== before) handOver(after)
      if (rule === undefined) form.forget()
      if (location.href === href) onSaved(id)
    },
  })
  const { text } = form.draft
  const setText = (next: string) => form.change({ text: next })
  const document = useMemo(() => parsed(text), [text])
  const [view, setView] = usePersisted<'form' | 'json'>('rules edited as', () => 'form')
  const shown = formOf(document)
  const isForm = view === 'form' && shown !== undefined
  const remove = useCall(
    (ruleId: string) => creel.transformations.remove.mutate({ ...ids, ruleId }),
    stale,
    form.forget,
    onRemoved,
  )
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
        <Segments
          label="Edit the rule as"
          value={shown === undefined ? 'json' : view}
          options={[
            { value: 'form', words: 'Form', isOff: shown === undefined },
            { value: 'json', words: '{…} JSON' },
          ]}
          onChange={setView}
        />
        {isForm ? (
          <RuleForm
            endpointId={endpoint.id}
            document={shown}
            problem={form.problem}
            onChange={(next) => setText(JSON.stringify(next, null, 2))}
          />
        ) : (
          <CodeEditor
            label="Rule"
            value={text}
            onChange={(typed) => {
              // The form may be able to show it before the typing is done.
              setView('json')
              setText(typed)
            }}
            marks={marks}
            schema={schema.data}
            paths={paths}
            onSave={() => form.submit()}
          />
        )}
        {form.conflict !== null && <ConflictNote conflict={form.conflict} />}
        {isForm ? (
          <Problems of={problemBeside(problem, membersOf(shown))} />
        ) : (
          problem !== null && (
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
          )
        )}
        <div className="form-foot">
          <Writes>
            <Button
              look="primary"
              disabled={form.isSaving || !isChanged || form.conflict !== null}
              onClick={() => form.submit()}
            >
              {form.isSaving ? 'Saving…' : `Save as v${next}`}{' '}
              {view === 'json' && <kbd>{withModifier('S')}</kbd>}
            </Button>
            {rule !== undefined && isChanged && (
              <Button onClick={() => setText(saved ?? '')}>Reset to v{rule.version}</Button>
            )}
            {rule === undefined && onCancel !== undefined && (
              <Button
                onClick={() => {
                  form.forget()
                  onCancel()
                }}
              >
                Cancel
              </Button>
            )}
            {document === undefined && <span className="warn">This is not valid JSON yet.</span>}
            <span className="grow" />
            {rule !== undefined && (
              <ConfirmButton
                confirm="Confirm: delete rule and versions"
                onConfirm={() => remove.mutate(rule.id)}
              />
            )}
          </Writes>
        </div>
        {rule !== undefined && (
          <RuleVersions
            endpointId={endpoint.id}
            actionId={actionId}
            rule={rule}
            isChanged={isChanged}
            // Text that was typed during the call is kept; its save shows the conflict.
            onRestored={async () => void (await (isChanged ? refresh() : showStored(rule.id)))}
          />
        )}
      </div>
      <RulePreview endpointId={endpoint.id} actionId={actionId} before={before} document={document} />
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

interface RuleVersionsProps {
  readonly endpointId: string
  readonly actionId: string
  readonly rule: Rule
  /** Whether the editor has a draft, which a restored version would replace. */
  readonly isChanged: boolean
  readonly onRestored: () => Promise<void>
}

/** Every version of a rule. An old one can be compared with the current one, and restored as a new version. */
function RuleVersions({ endpointId, actionId, rule, isChanged, onRestored }: RuleVersionsProps) {
  const versions = useQuery(versionsQuery(endpointId, rule.id, rule.version))
  const [compared, setCompared] = useState<number>()
  const restore = useCall(
    (n: number) => creel.transformations.restore.mutate({ endpointId, actionId, ruleId: rule.id, n }),
    [],
    async ({ version }) => {
      await onRestored()
      toast(`Restored as v${version}`)
    },
  )
  const items = versions.data?.items ?? []
  const old = items.find(({ version }) => version === compared)
  if (items.length < 2) return null
  const text = (document: unknown) => JSON.stringify(document, null, 2).split('\n')
  return (
    <section className="cards" aria-label="Versions">
      <h3>Versions</h3>
      <Problem error={restore.error ?? versions.error} />
      {isChanged && <p className="hint">Save or reset your changes before you restore a version.</p>}
      {items.map(({ createdAt, restoredFrom, version }) => (
        <div key={version} className="acts">
          <b>v{version}</b>
          <span className="hint" title={fullTime(createdAt)}>
            {version === rule.version ? 'current, ' : ''}
            {ago(createdAt)}
            {restoredFrom !== null && `, restored from v${restoredFrom}`}
          </span>
          {version !== rule.version && (
            <>
              <Button look="small" onClick={() => setCompared(compared === version ? undefined : version)}>
                Compare v{version} with v{rule.version}
              </Button>
              <Writes>
                <Button look="small" {...restore.button(version)} disabled={isChanged || restore.isPending}>
                  Restore v{version}
                </Button>
              </Writes>
            </>
          )}
        </div>
      ))}
      {old !== undefined && (
        <div className="preview-out">
          <Lines lines={diffLines(text(old.rule), text(rule.rule))} />
        </div>
      )}
    </section>
  )
}
