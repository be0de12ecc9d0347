import { CREDENTIAL_HEADERS } from '@creel/core/engine/words'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { CheckField, TextField } from '../parts/Field.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem } from '../parts/Problem.tsx'
import { SamplePicker, useSample } from '../parts/SamplePicker.tsx'
import { type Answers, creel, type Endpoint } from '../trpc.ts'
import { useSettled } from '../usePersisted.ts'
import { namesOf, rulesOf, type SettingsForm, sampleOf } from './settingsDraft.ts'

const EXAMPLE = '[{"op": "redact", "paths": ["body.customer.email"]}]'

/** Rules that take data out of captures before they are stored, with a preview. */
export function PrivacySettings({ endpoint, form }: { endpoint: Endpoint; form: SettingsForm }) {
  const [isTried, setTried] = useState(false)
  const { dropHeaders, keepsOriginal, storeRules } = form.draft
  const rules = rulesOf(storeRules)
  const ruleField = form.field('storeRules')
  const addCredentials = () => {
    const names = namesOf(dropHeaders)
    const known = new Set(names.map((name) => name.toLowerCase()))
    const missing = CREDENTIAL_HEADERS.filter((name) => !known.has(name.toLowerCase()))
    form.change({ dropHeaders: [...names, ...missing].join('\n') })
  }
  return (
    <Card title="Privacy" id="privacy">
      <p className="hint">
        What is taken out here is not stored, shown, searched or forwarded. Signature, event id and conditions
        are checked before. A rule that cannot be applied stores a trace without body and query.
      </p>
      <div className="form">
        <TextField
          label="Headers that are not stored"
          rows={3}
          hint="One name per line."
          {...form.field('dropHeaders')}
        />
        <p className="acts">
          <Button look="small" onClick={addCredentials}>
            Add headers with credentials
          </Button>
        </p>
        <TextField
          label="Rules before storing"
          rows={8}
          placeholder={EXAMPLE}
          hint="Steps keep, remove, redact, hash and set, on paths of body, headers and query, on path and ip; or rules with when and steps."
          {...ruleField}
          problem={rules === undefined ? 'This is not a JSON list yet.' : ruleField.problem}
        />
        <CheckField
          label="Encrypt captures at rest"
          hint="With a key of the endpoint, which Shred destroys. Searches of text do not find encrypted requests: use method, label, event id and the other filters. Stored requests are encrypted in the background."
          {...form.field('encrypts', 'encryptBodies')}
        />
        <CheckField
          label="Forward the original"
          hint="It is kept, sealed, until its deliveries have ended."
          {...form.field('keepsOriginal', 'forwardOriginal')}
        />
        {keepsOriginal && (
          <TextField
            label="Hours until the original is gone at the latest"
            inputMode="numeric"
            placeholder="72"
            {...form.field('originalHours')}
          />
        )}
        {rules !== undefined && (
          <StoringWarnings endpoint={endpoint} headers={namesOf(dropHeaders)} rules={rules} />
        )}
        <p className="acts">
          <Button onClick={() => setTried(!isTried)}>{isTried ? 'Hide the preview' : 'Preview'}</Button>
        </p>
      </div>
      {isTried && rules !== undefined && (
        <StoringPreview endpointId={endpoint.id} headers={namesOf(dropHeaders)} rules={rules} />
      )}
    </Card>
  )
}

interface Props {
  readonly endpointId: string
  readonly headers: readonly string[]
  readonly rules: Endpoint['storeRules']
}

/** Names what reads a value that the unsaved settings would take out. */
function StoringWarnings({ endpoint, headers, rules }: Omit<Props, 'endpointId'> & { endpoint: Endpoint }) {
  const tried = { dropHeaders: [...headers], storeRules: rules }
  const settled = useSettled(JSON.stringify(tried))
  const { dropHeaders, storeRules } = endpoint
  const isChanged = settled !== undefined && settled !== JSON.stringify({ dropHeaders, storeRules })
  const preview = useQuery({
    queryKey: ['storing warnings', endpoint.id, settled],
    queryFn: () =>
      creel.endpoints.previewStoring.mutate({ endpointId: endpoint.id, ...tried, sample: { body: '' } }),
    enabled: isChanged,
    retry: false,
  })
  return (
    <div role="status" aria-label="Readers of what is taken out">
      {(isChanged ? preview.data?.warnings : undefined)?.map((warning) => (
        <p key={warning} className="banner">
          {warning}
        </p>
      ))}
    </div>
  )
}

/** Shows what would be stored of a captured or a pasted request under the unsaved settings; nothing is saved. */
function StoringPreview({ endpointId, headers, rules }: Props) {
  const sample = useSample(endpointId)
  const [pasted, setPasted] = useState('')
  const isPasted = pasted.trim() !== ''
  const settled = useSettled(JSON.stringify({ headers, rules, pasted }))
  const preview = useQuery({
    queryKey: ['storing preview', endpointId, isPasted ? 0 : sample.id, settled],
    queryFn: () =>
      creel.endpoints.previewStoring.mutate({
        endpointId,
        dropHeaders: [...headers],
        storeRules: rules,
        ...(isPasted ? { sample: sampleOf(pasted) } : { requestId: sample.id }),
      }),
    enabled: settled !== undefined && (isPasted || sample.id > 0),
    placeholderData: keepPreviousData,
    retry: false,
  })
  return (
    <div className="two">
      <div className="form">
        {isPasted || sample.isNone ? <b>Preview on a pasted request</b> : <SamplePicker sample={sample} />}
        <TextField
          label="Paste a request"
          rows={4}
          value={pasted}
          hint="A body, or JSON with method, path, query, headers and body. Empty: a captured request."
          onChange={setPasted}
        />
        <Problem error={sample.error ?? preview.error} />
      </div>
      {preview.data !== undefined && preview.error === null && <Outcome preview={preview.data} />}
    </div>
  )
}

type Preview = Answers['endpoints']['previewStoring']

function Outcome({ preview }: { readonly preview: Preview }) {
  const { redacted, redactedPaths, redactionFault, stored } = preview
  return (
    <div className="field" role="status" aria-label="What would be stored">
      <span className="label">
        {redacted ? `Taken out: ${redactedPaths.join(', ')}` : 'Nothing is taken out'}
      </span>
      {redactionFault !== null && <p className="problem">Only a trace would be stored: {redactionFault}</p>}
      <p className="sees">{wordsOf(stored)}</p>
    </div>
  )
}

function wordsOf({ body, headers, method, path, queryString }: Preview['stored']): string {
  const target = `${path === '' ? '/' : path}${queryString === null ? '' : `?${queryString}`}`
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${target}`, ...fields, '', body ?? ''].join('\n')
}
