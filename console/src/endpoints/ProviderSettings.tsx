import { useQuery } from '@tanstack/react-query'
import { Card } from '../parts/Card.tsx'
import { TextField } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { providersQuery } from '../shell/queries.ts'
import type { Provider } from '../trpc.ts'
import { ago } from '../words/format.ts'
import { ProviderPicker, schemeText } from './ProviderPicker.tsx'
import type { SecretProps } from './SenderSettings.tsx'
import { TryVerification } from './TryVerification.tsx'

/** The provider of the endpoint, and the secret that verifies its signatures. */
export function ProviderSettings({ endpoint, form, secrets, onSecrets }: SecretProps) {
  const providers = useQuery(providersQuery)
  const { provider: slug } = form.draft
  const provider = providers.data?.items.find((one) => one.slug === slug)
  const { handshakeTokenSet, secretSet, secretSetAt, source } = endpoint.verification
  const { handshakeToken, signingSecret } = secrets
  return (
    <Card
      title="Provider"
      id="provider"
      acts={source === 'manual' && <span className="badge">custom signature scheme</span>}
    >
      <div className="form">
        <ProviderPicker slug={slug} onChange={(next) => form.change({ provider: next })} />
        <Problem error={providers.error} />
        {provider !== undefined && <About provider={provider} />}
        {provider?.verification?.supported === true && (
          <TextField
            label={provider.verification.secretLabel ?? 'Signing secret'}
            kind="code"
            hint={
              secretSet && slug === endpoint.provider
                ? `Set ${ago(secretSetAt)}. Leave blank to keep the current secret.`
                : 'Stored encrypted and never shown again.'
            }
            value={signingSecret}
            problem={form.at('signingSecret')}
            onChange={(typed) => onSecrets({ ...secrets, signingSecret: typed })}
          />
        )}
        {provider?.handshakeTokenNeeded === true && (
          <TextField
            label="Handshake token"
            kind="code"
            hint={
              handshakeTokenSet
                ? 'Set. Leave blank to keep the current secret.'
                : 'The provider asks for this token when you enter the URL.'
            }
            value={handshakeToken}
            problem={form.at('handshakeToken')}
            onChange={(typed) => onSecrets({ ...secrets, handshakeToken: typed })}
          />
        )}
        <TryVerification
          endpoint={endpoint}
          members={{ provider: slug, ...(signingSecret === '' ? {} : { signingSecret }) }}
        />
      </div>
    </Card>
  )
}

function About({ provider }: { provider: Provider }) {
  const { setupPath, signatureHeader, verification } = provider
  return (
    <p className="hint">
      {verification === null
        ? 'This provider does not sign its requests.'
        : `${schemeText(verification.scheme)}${signatureHeader === null ? '' : ` in ${signatureHeader}`}${verification.supported ? '' : ', which Creel cannot verify'}.`}
      {setupPath !== null && ` Enter the capture URL there under: ${setupPath}.`}
    </p>
  )
}
