import { CREDENTIAL_HEADERS } from '@creel/core/engine/words'
import { type FormEvent, useState } from 'react'
import { useEndpointChange } from '../endpoints/useEndpointChange.ts'
import { Button } from '../parts/Button.tsx'
import { CheckField, TextField } from '../parts/Field.tsx'
import { Problems } from '../parts/Problem.tsx'
import { usePersisted } from '../parts/usePersisted.ts'
import type { Endpoint } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { StoringPreview } from './StoringPreview.tsx'
import { namesOf, rulesOf, type StoringDraft, textOfRules } from './storingDraft.ts'

const MEMBERS = ['dropHeaders', 'storeRules', 'forwardOriginal', 'originalHours']

const EXAMPLE = '[{"op": "redact", "paths": ["body.customer.email"]}]'

/** Form for what is taken out of captures before they are stored, with a preview. */
export function PrivacySettings({ endpoint }: { endpoint: Endpoint }) {
  const [draft, setDraft, forget] = usePersisted<StoringDraft>(`privacy ${endpoint.id}`, {
    headers: endpoint.dropHeaders.join('\n'),
    rules: textOfRules(endpoint.storeRules),
    keepsOriginal: endpoint.forwardOriginal,
    hours: endpoint.originalHours === null ? '' : String(endpoint.originalHours),
  })
  const [isTried, setTried] = useState(false)
  const change = useEndpointChange(endpoint.id, forget)
  const problem = change.error === null ? null : problemOf(change.error)
  const rules = rulesOf(draft.rules)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (rules === undefined) return
    change.mutate({
      dropHeaders: namesOf(draft.headers),
      storeRules: rules,
      forwardOriginal: draft.keepsOriginal,
      ...(draft.keepsOriginal ? { originalHours: draft.hours === '' ? null : Number(draft.hours) } : {}),
    })
  }
  const addCredentials = () => {
    const names = namesOf(draft.headers)
    const known = new Set(names.map((name) => name.toLowerCase()))
    const missing = CREDENTIAL_HEADERS.filter((name) => !known.has(name.toLowerCase()))
    setDraft({ ...draft, headers: [...names, ...missing].join('\n') })
  }
  return (
    <section className="card" id="privacy" aria-label="Privacy">
      <h2>Privacy</h2>
      <p className="hint">
        What is taken out here is not stored, shown, searched or forwarded. Signature, event id and conditions
        are checked before. A rule that cannot be applied stores a trace without body and query.
      </p>
      <form className="form" onSubmit={submit}>
        <TextField
          label="Headers that are not stored"
          rows={3}
          value={draft.headers}
          problem={problemAt(problem, 'dropHeaders')}
          hint="One name per line."
          onChange={(headers) => setDraft({ ...draft, headers })}
        />
        <p className="acts">
          <Button look="small" onClick={addCredentials}>
            Add headers with credentials
          </Button>
        </p>
        <TextField
          label="Rules before storing"
          rows={8}
          value={draft.rules}
          problem={rules === undefined ? 'This is not a JSON list yet.' : problemAt(problem, 'storeRules')}
          placeholder={EXAMPLE}
          hint="Steps keep, remove, redact, hash and set on body.…, headers.…, query.…, path and ip; or rules with when and steps."
          onChange={(text) => setDraft({ ...draft, rules: text })}
        />
        <CheckField
          label="Forward the original"
          value={draft.keepsOriginal}
          problem={problemAt(problem, 'forwardOriginal')}
          hint="It is kept, sealed, until its deliveries have ended."
          onChange={(keepsOriginal) => setDraft({ ...draft, keepsOriginal })}
        />
        {draft.keepsOriginal && (
          <TextField
            label="Hours until the original is gone at the latest"
            kind="number"
            value={draft.hours}
            problem={problemAt(problem, 'originalHours')}
            placeholder="72"
            onChange={(hours) => setDraft({ ...draft, hours })}
          />
        )}
        {change.data?.warnings?.map((warning) => (
          <p key={warning} className="banner" role="status">
            {warning}
          </p>
        ))}
        <Problems of={problemBeside(problem, MEMBERS)} />
        <div className="form-foot">
          <Button type="submit" look="primary" disabled={change.isPending || rules === undefined}>
            {change.isPending ? 'Saving…' : 'Save privacy'}
          </Button>
          <Button onClick={() => setTried(!isTried)}>{isTried ? 'Hide the preview' : 'Preview'}</Button>
        </div>
      </form>
      {isTried && rules !== undefined && (
        <StoringPreview endpointId={endpoint.id} headers={namesOf(draft.headers)} rules={rules} />
      )}
    </section>
  )
}
