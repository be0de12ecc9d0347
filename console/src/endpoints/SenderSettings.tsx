import { CheckField, SelectField, TextField } from '../parts/Field.tsx'
import { Card } from '../parts/Page.tsx'
import type { Endpoint } from '../trpc.ts'
import { ALGORITHMS, ENCODINGS, type NO_SECRETS, type SettingsForm } from './settingsDraft.ts'

export interface SecretProps {
  readonly endpoint: Endpoint
  readonly form: SettingsForm
  readonly secrets: typeof NO_SECRETS
  readonly onSecrets: (secrets: typeof NO_SECRETS) => void
}

/** The captures that are refused, a signature scheme of one's own, and replays of many requests. */
export function SenderSettings({ endpoint, form, secrets, onSecrets }: SecretProps) {
  return (
    <Card title="Senders" id="senders">
      <div className="form">
        <TextField
          label="Allowed senders"
          rows={3}
          placeholder={'203.0.113.7\n198.51.100.0/24'}
          hint="One address or network per line. Others get 403. Blank allows all."
          {...form.field('networks', 'allowedSenders')}
        />
        <CheckField
          label="Refuse captures without a valid signature"
          hint="They get 401 and are not stored. Without the secret of a provider or scheme nothing is refused."
          {...form.field('onlyVerified', 'rejectUnverified')}
        />
        <CheckField
          label="Allow replays of many requests"
          hint="Rehearsals send stored requests to any URL."
          {...form.field('mayRehearse', 'allowRehearsal')}
        />
        <TextField
          label="Header with the signature"
          kind="code"
          placeholder="X-Signature"
          hint="For a sender that is not in the list of providers: a signature over the body. Blank uses the provider."
          {...form.field('header', 'signatureHeader')}
        />
        {form.draft.header !== '' && (
          <div className="row-2">
            <SelectField
              label="Algorithm"
              options={ALGORITHMS}
              {...form.field('algorithm', 'signatureAlgorithm')}
            />
            <SelectField
              label="Encoding"
              options={ENCODINGS}
              {...form.field('encoding', 'signatureEncoding')}
            />
            <TextField
              label="Prefix"
              kind="code"
              placeholder="sha256="
              {...form.field('prefix', 'signaturePrefix')}
            />
            <TextField
              label="Secret or public key"
              kind="code"
              value={secrets.signingSecret}
              problem={form.at('signingSecret')}
              hint={
                endpoint.verification.secretSet
                  ? 'Set. Leave blank to keep it.'
                  : 'Stored encrypted and never shown again.'
              }
              onChange={(signingSecret) => onSecrets({ ...secrets, signingSecret })}
            />
          </div>
        )}
      </div>
    </Card>
  )
}
