import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { asRead } from '../body/asRead.ts'
import { BodyView } from '../body/BodyView.tsx'
import { CodeEditor } from '../editor/CodeEditor.tsx'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { CheckField, SelectField, TextField } from '../parts/Field.tsx'
import { Problem, Problems } from '../parts/Problem.tsx'
import { StateMark } from '../parts/StateMark.tsx'
import { withModifier } from '../parts/shortcuts.ts'
import { useForm } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { actionsQuery } from '../queries.ts'
import { type AttemptDetail, creel, type Endpoint, type RequestDetail } from '../trpc.ts'
import { attemptErrorWords } from '../words/attemptError.ts'
import { bytes, duration, plural, withoutScheme } from '../words/format.ts'
import { linesOf, withBreaksOf } from '../words/headers.ts'
import type { ProblemWords } from '../words/problem.ts'
import { changedLines, draftOfRequest, isEditable, laidOut, membersOfDraft } from './editedDraft.ts'

interface Props {
  readonly endpoint: Endpoint
  readonly request: RequestDetail
  readonly onClose: () => void
}

/**
 * Form to edit a captured request and send it through one action. The answer appears next to it, and the draft is kept.
 */
export function EditAndSend({ endpoint, request, onClose }: Props) {
  const list = useQuery(actionsQuery(endpoint.id))
  const forwards = list.data?.actions.filter(({ kind }) => kind === 'forward') ?? []
  const ids = { endpointId: endpoint.id, requestId: request.id }
  // Keep the first action chosen: the order of the list may change while the form is open.
  const first = useRef<string>(undefined)
  first.current ??= forwards[0]?.id
  /** The chosen action, or the one that was first; any other, if it is gone. */
  const via = ({ actionId }: { readonly actionId: string }) =>
    forwards.find(({ id }) => id === (actionId || first.current)) ?? forwards[0]
  const form = useForm({
    keptAs: `send ${endpoint.id} ${request.id}`,
    begin: () => draftOfRequest(request),
    save: (draft) =>
      creel.requests.send.mutate({
        ...ids,
        ...membersOfDraft({ ...draft, actionId: via(draft)?.id ?? '' }, request),
      }),
    stale: [['attempts', endpoint.id, request.id]],
  })
  const { change, draft } = form
  const action = via(draft)
  const isUnsigned = action?.signing.signed === false
  const changed = changedLines(draft, request)
  const laid = isEditable(request) ? laidOut(draft.body) : null
  const pretty = laid === null ? null : withBreaksOf(draft.body, laid)
  return (
    <Dialog title="Edit and send" size="wide" onClose={onClose}>
      {list.data !== undefined && forwards.length === 0 ? (
        <p>
          This endpoint has no forward action yet. Add one, then send through it. Its condition need not
          match.
        </p>
      ) : (
        <Writes>
          <form className="sending" onSubmit={form.submit} aria-label="Edit and send">
            <Problem error={list.error} />
            <div className="sending-line">
              <SelectField
                label="Send via"
                options={forwards.map(({ id, isActive, name }) => ({
                  value: id,
                  words: isActive ? name : `${name} (off)`,
                }))}
                {...form.field('actionId')}
                value={action?.id ?? ''}
              />
              <TextField label="Method" kind="code" {...form.field('method')} />
              <code className="cut sending-url" title={action?.url ?? undefined}>
                {withoutScheme(action?.url ?? '')}
              </code>
              <span className="hint">
                {changed === 0
                  ? `as captured in #${request.id}`
                  : `differs in ${plural(changed, 'line')} from #${request.id}`}
              </span>
            </div>
            <div className="sending-grid">
              <div className="sending-side">
                <Headers problems={form.problem} {...form.field('headers')} />
                <BodyField
                  request={request}
                  pretty={pretty}
                  {...form.field('body')}
                  onRun={() => form.submit()}
                />
                <div className="acts">
                  <CheckField
                    label={isUnsigned ? 'Not signed' : 're-sign'}
                    {...form.field('sign')}
                    {...(isUnsigned && { value: false, isDisabled: true })}
                  />
                  <CheckField
                    label={`run the rules (${action?.ruleCount ?? 0})`}
                    {...form.field('transform')}
                  />
                </div>
                <Problems of={form.beside()} />
                <div className="form-foot">
                  <Button type="submit" look="primary" disabled={form.isSaving || action === undefined}>
                    {form.isSaving ? 'Sending…' : form.saved === undefined ? 'Send' : 'Send again'}{' '}
                    <kbd>{withModifier('↵')}</kbd>
                  </Button>
                  <Button
                    disabled={changed === 0}
                    onClick={() => change(draftOfRequest(request, draft.actionId))}
                  >
                    Reset
                  </Button>
                </div>
              </div>
              <Answer attempt={form.saved} isSending={form.isSaving} />
            </div>
          </form>
        </Writes>
      )}
    </Dialog>
  )
}

interface HeadersProps {
  readonly value: string
  readonly problems: ProblemWords | null
  readonly onChange: (value: string) => void
}

/** The header fields, one a line; messages name their line. */
function Headers({ value, problems, onChange }: HeadersProps) {
  const wrong = (problems?.items ?? []).flatMap(({ detail, pointer }) => {
    const line = /^#\/headers(?:\/(\d+))?/.exec(pointer)
    if (line === null) return []
    return [line[1] === undefined ? detail : `Line ${Number(line[1]) + 1}: ${detail}`]
  })
  const count = linesOf(value).length
  const [isOpen, setOpen] = useState(false)
  return (
    <details open={isOpen || wrong.length > 0} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{plural(count, 'header')}</summary>
      <TextField
        label={<span className="sr-only">Headers</span>}
        rows={Math.max(2, Math.min(10, count + 1))}
        kind="code"
        value={value}
        problem={wrong.join(' ')}
        hint="One per line. Host, Content-Length and connection headers are set again when sending."
        onChange={onChange}
      />
    </details>
  )
}

interface BodyProps {
  readonly request: RequestDetail
  readonly value: string
  /** The body with a line for each member; null if it is not JSON. */
  readonly pretty: string | null
  readonly problem: string
  readonly onChange: (value: string) => void
  readonly onRun: () => void
}

function BodyField({ request, value, pretty, problem, onChange, onRun }: BodyProps) {
  if (!isEditable(request)) {
    return (
      <p className="banner">
        {request.bodyTruncated
          ? 'This body is truncated and cannot be sent.'
          : `The body (${bytes(request.sizeBytes)}${request.bodyIsBinary ? ', binary' : ''}) is sent as captured.`}
      </p>
    )
  }
  return (
    <div className="field">
      <div className="acts">
        <span className="label grow">Body</span>
        {pretty !== null && pretty !== value && (
          <Button look="small quiet" onClick={() => onChange(pretty)}>
            Format
          </Button>
        )}
      </div>
      <CodeEditor
        label="Body to send"
        // Decided by the captured body. The typed JSON is invalid most of the time, and the editor must not be
        // recreated.
        language={laidOut(asRead(request).body ?? '') === null ? 'text' : 'json'}
        value={value}
        onChange={onChange}
        onRun={onRun}
        onSave={onRun}
      />
      {problem !== '' && <p className="field-problem">{problem}</p>}
    </div>
  )
}

function Answer({ attempt, isSending }: { attempt: AttemptDetail | undefined; isSending: boolean }) {
  if (attempt === undefined) {
    return (
      <section className="sending-answer" aria-label="Answer" aria-busy={isSending}>
        <p className="hint pad">{isSending ? 'Sending…' : 'The answer appears here.'}</p>
      </section>
    )
  }
  const { durationMs, error, received, state } = attempt
  return (
    <section className="sending-answer" aria-label="Answer" aria-busy={isSending} aria-live="polite">
      <p className="sending-outcome">
        <StateMark state={state} />{' '}
        <b>
          {received === null
            ? error === null
              ? state
              : attemptErrorWords(error)
            : `HTTP ${received.statusCode}`}
        </b>{' '}
        in {duration(durationMs)}
      </p>
      {attempt.transformNote !== null && <p className="hint">{attempt.transformNote}</p>}
      {received !== null && (
        <BodyView
          {...asRead(received)}
          isTruncated={received.bodyTruncated}
          contentType={received.contentType}
          sizeBytes={received.body?.length ?? 0}
          name="answer"
        />
      )}
    </section>
  )
}
