import { CREDENTIAL_HEADERS } from '@creel/core/engine/words'
import { useState } from 'react'
import type { SettingsForm } from '../endpoints/settingsDraft.ts'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Card.tsx'
import { CheckField, TextField } from '../parts/Field.tsx'
import type { Endpoint } from '../trpc.ts'
import { StoringPreview } from './StoringPreview.tsx'
import { namesOf, rulesOf } from './storingDraft.ts'

const EXAMPLE = '[{"op": "redact", "paths": ["body.customer.email"]}]'

/** What is taken out of captures before they are stored, with a preview. */
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
          hint="Steps keep, remove, redact, hash and set on body.…, headers.…, query.…, path and ip; or rules with when and steps."
          {...ruleField}
          problem={rules === undefined ? 'This is not a JSON list yet.' : ruleField.problem}
        />
        <CheckField
          label="Forward the original"
          hint="It is kept, sealed, until its deliveries have ended."
          {...form.field('keepsOriginal', 'forwardOriginal')}
        />
        {keepsOriginal && (
          <TextField
            label="Hours until the original is gone at the latest"
            kind="number"
            placeholder="72"
            {...form.field('originalHours')}
          />
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
