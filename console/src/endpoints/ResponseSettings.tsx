import type { FormEvent } from 'react'
import { Button } from '../parts/Button.tsx'
import { Field } from '../parts/Field.tsx'
import { Problems } from '../parts/Problem.tsx'
import { usePersisted } from '../parts/usePersisted.ts'
import type { Endpoint } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { useEndpointChange } from './useEndpointChange.ts'

const MEMBERS = ['responseStatusCode', 'responseContentType', 'responseHeaders', 'responseBody']

/** The response to senders, with a preview. */
export function ResponseSettings({ endpoint }: { endpoint: Endpoint }) {
  const [draft, setDraft, forget] = usePersisted(`response ${endpoint.id}`, {
    status: String(endpoint.responseStatusCode),
    type: endpoint.responseContentType,
    headers: Object.entries(endpoint.responseHeaders)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    body: endpoint.responseBody,
  })
  const change = useEndpointChange(endpoint.id, forget)
  const problem = change.error === null ? null : problemOf(change.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({
      responseStatusCode: Number(draft.status),
      responseContentType: draft.type,
      responseHeaders: headersOf(draft.headers),
      responseBody: draft.body,
    })
  }
  return (
    <section className="card" aria-label="Response">
      <h2>Response</h2>
      <div className="two">
        <form className="form" onSubmit={submit}>
          <div className="row-2">
            <Field
              label="Status"
              problem={problemAt(problem, 'responseStatusCode')}
              hint="200 to 299, or 400 to 599"
            >
              {(ids) => (
                <input
                  {...ids}
                  className="input"
                  inputMode="numeric"
                  value={draft.status}
                  onChange={({ target }) => setDraft({ ...draft, status: target.value })}
                />
              )}
            </Field>
            <Field label="Content type" problem={problemAt(problem, 'responseContentType')}>
              {(ids) => (
                <input
                  {...ids}
                  className="input mono"
                  value={draft.type}
                  onChange={({ target }) => setDraft({ ...draft, type: target.value })}
                />
              )}
            </Field>
          </div>
          <Field
            label="Headers"
            problem={problemAt(problem, 'responseHeaders')}
            hint="One per line, as Name: value"
          >
            {(ids) => (
              <textarea
                {...ids}
                className="textarea mono"
                rows={2}
                value={draft.headers}
                onChange={({ target }) => setDraft({ ...draft, headers: target.value })}
              />
            )}
          </Field>
          <Field label="Body" problem={problemAt(problem, 'responseBody')}>
            {(ids) => (
              <textarea
                {...ids}
                className="textarea mono"
                rows={4}
                value={draft.body}
                onChange={({ target }) => setDraft({ ...draft, body: target.value })}
              />
            )}
          </Field>
          <Problems of={problemBeside(problem, MEMBERS)} />
          <div className="form-foot">
            <Button type="submit" look="primary" disabled={change.isPending}>
              {change.isPending ? 'Saving…' : 'Save response'}
            </Button>
          </div>
        </form>
        <div className="field">
          <span className="label">Preview</span>
          <p className="sees">{seen(draft)}</p>
        </div>
      </div>
    </section>
  )
}

function headersOf(text: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const at = line.indexOf(':')
    headers[(at < 0 ? line : line.slice(0, at)).trim()] = at < 0 ? '' : line.slice(at + 1).trim()
  }
  return headers
}

function seen({
  body,
  headers,
  status,
  type,
}: Readonly<Record<'body' | 'headers' | 'status' | 'type', string>>): string {
  const length = new TextEncoder().encode(body).length
  const given = Object.entries(headersOf(headers)).map(([name, value]) => `${name}: ${value}`)
  return [
    `HTTP/1.1 ${status}`,
    ...(body === '' ? [] : [`Content-Type: ${type}`]),
    ...given,
    `Content-Length: ${length}`,
    '',
    body,
  ].join('\n')
}
