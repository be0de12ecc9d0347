import { type FormEvent, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { CheckField, choices, SelectField, TextField } from '../parts/Field.tsx'
import { Problems } from '../parts/Problem.tsx'
import { usePersisted } from '../parts/usePersisted.ts'
import { namesOf } from '../privacy/storingDraft.ts'
import type { Endpoint, Inputs } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { useEndpointChange } from './useEndpointChange.ts'

type Members = Inputs['endpoints']['update']

const ALGORITHMS = choices('sha256', 'sha1', 'sha512', 'rsa-sha256', 'rsa-sha512', 'ed25519')
const ENCODINGS = choices('hex', 'base64', 'base64url')
const MEMBERS = ['allowedSenders', 'rejectUnverified', 'signatureHeader', 'signaturePrefix', 'signingSecret']

/** Form for the captures that are refused, a signature scheme of one's own, and replays of many requests. */
export function SenderSettings({ endpoint }: { endpoint: Endpoint }) {
  const { manual, secretSet } = endpoint.verification
  const [draft, setDraft, forget] = usePersisted(`senders ${endpoint.id}`, {
    networks: endpoint.allowedSenders.join('\n'),
    onlyVerified: endpoint.rejectUnverified,
    mayRehearse: endpoint.allowRehearsal,
    header: manual?.header ?? '',
    algorithm: ALGORITHMS.find(({ value }) => value === manual?.algorithm)?.value ?? 'sha256',
    encoding: ENCODINGS.find(({ value }) => value === manual?.encoding)?.value ?? 'hex',
    prefix: manual?.prefix ?? '',
  })
  // Secrets are never kept in the browser.
  const [secret, setSecret] = useState('')
  const change = useEndpointChange(endpoint.id, () => {
    forget()
    setSecret('')
  })
  const problem = change.error === null ? null : problemOf(change.error)
  const set = (members: Partial<typeof draft>) => setDraft({ ...draft, ...members })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({
      allowedSenders: namesOf(draft.networks),
      rejectUnverified: draft.onlyVerified,
      allowRehearsal: draft.mayRehearse,
      ...schemeOf(draft, manual !== null),
      ...(secret === '' ? {} : { signingSecret: secret }),
    })
  }
  return (
    <section className="card" id="senders" aria-label="Senders">
      <h2>Senders</h2>
      <form className="form" onSubmit={submit}>
        <TextField
          label="Allowed senders"
          rows={3}
          value={draft.networks}
          problem={problemAt(problem, 'allowedSenders')}
          placeholder={'203.0.113.7\n198.51.100.0/24'}
          hint="One address or network per line. Others get 403. Blank allows all."
          onChange={(networks) => set({ networks })}
        />
        <CheckField
          label="Refuse captures without a valid signature"
          value={draft.onlyVerified}
          problem={problemAt(problem, 'rejectUnverified')}
          hint="They get 401 and are not stored. Without the secret of a provider or scheme nothing is refused."
          onChange={(onlyVerified) => set({ onlyVerified })}
        />
        <CheckField
          label="Allow replays of many requests"
          value={draft.mayRehearse}
          hint="Rehearsals send stored requests to any URL."
          onChange={(mayRehearse) => set({ mayRehearse })}
        />
        <TextField
          label="Header with the signature"
          kind="code"
          value={draft.header}
          problem={problemAt(problem, 'signatureHeader')}
          placeholder="X-Signature"
          hint="For a sender that is not in the list of providers: a signature over the body. Blank uses the provider."
          onChange={(header) => set({ header })}
        />
        {draft.header !== '' && (
          <div className="row-2">
            <SelectField
              label="Algorithm"
              options={ALGORITHMS}
              value={draft.algorithm}
              onChange={(algorithm) => set({ algorithm })}
            />
            <SelectField
              label="Encoding"
              options={ENCODINGS}
              value={draft.encoding}
              onChange={(encoding) => set({ encoding })}
            />
            <TextField
              label="Prefix"
              kind="code"
              value={draft.prefix}
              problem={problemAt(problem, 'signaturePrefix')}
              placeholder="sha256="
              onChange={(prefix) => set({ prefix })}
            />
            <TextField
              label="Secret or public key"
              kind="code"
              value={secret}
              problem={problemAt(problem, 'signingSecret')}
              hint={secretSet ? 'Set. Leave blank to keep it.' : 'Stored encrypted and never shown again.'}
              onChange={setSecret}
            />
          </div>
        )}
        <Problems of={problemBeside(problem, MEMBERS)} />
        <div className="form-foot">
          <Button type="submit" look="primary" disabled={change.isPending}>
            {change.isPending ? 'Saving…' : 'Save senders'}
          </Button>
        </div>
      </form>
    </section>
  )
}

interface Scheme {
  readonly header: string
  readonly algorithm: (typeof ALGORITHMS)[number]['value']
  readonly encoding: (typeof ENCODINGS)[number]['value']
  readonly prefix: string
}

/** Members of a signature scheme; none if there is no scheme and there was none. */
function schemeOf({ header, algorithm, encoding, prefix }: Scheme, wasSet: boolean): Partial<Members> {
  if (header === '') return wasSet ? { signatureHeader: '' } : {}
  return {
    signatureHeader: header.trim(),
    signatureAlgorithm: algorithm,
    signatureEncoding: encoding,
    signaturePrefix: prefix,
  }
}
