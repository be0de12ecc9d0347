import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useAddress } from '../address.ts'
import { Button } from '../parts/Button.tsx'
import { Field } from '../parts/Field.tsx'
import { Problem, Problems } from '../parts/Problem.tsx'
import { usePersisted } from '../parts/usePersisted.ts'
import { providersQuery } from '../shell/queries.ts'
import type { Endpoint, Provider } from '../trpc.ts'
import { ago } from '../words/format.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { ProviderPicker, schemeText } from './ProviderPicker.tsx'
import { TryVerification } from './TryVerification.tsx'
import { useEndpointChange } from './useEndpointChange.ts'

/** The provider of the endpoint, and the secret that verifies its signatures. */
export function ProviderSettings({ endpoint }: { endpoint: Endpoint }) {
  const providers = useQuery(providersQuery)
  const [params] = useAddress()
  const [slug, setSlug, forget] = usePersisted(
    `provider ${endpoint.id}`,
    params.get('provider') ?? endpoint.provider ?? '',
  )
  // Secrets are never kept in the browser.
  const [secret, setSecret] = useState('')
  const [token, setToken] = useState('')
  const change = useEndpointChange(endpoint.id, () => {
    forget()
    setSecret('')
    setToken('')
  })
  const problem = change.error === null ? null : problemOf(change.error)
  const provider = providers.data?.items.find((one) => one.slug === slug)
  const { verification } = endpoint
  const isSet = verification.secretSet && slug === endpoint.provider
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({
      provider: slug,
      ...(secret === '' ? {} : { signingSecret: secret }),
      ...(token === '' ? {} : { handshakeToken: token }),
    })
  }
  return (
    <section className="card" id="provider" aria-label="Provider">
      <h2>
        Provider {verification.source === 'manual' && <span className="badge">custom signature scheme</span>}
      </h2>
      <form className="form" onSubmit={submit}>
        <ProviderPicker slug={slug} onChange={setSlug} />
        <Problem error={providers.error} />
        {provider !== undefined && <About provider={provider} />}
        {provider?.verification?.supported === true && (
          <Field
            label={provider.verification.secretLabel ?? 'Signing secret'}
            problem={problemAt(problem, 'signingSecret')}
            hint={
              isSet
                ? `Set ${ago(verification.secretSetAt)}. Leave blank to keep the current secret.`
                : 'Stored encrypted and never shown again.'
            }
          >
            {(ids) => (
              <input
                {...ids}
                className="input mono"
                autoComplete="off"
                spellCheck={false}
                value={secret}
                onChange={({ target }) => setSecret(target.value)}
              />
            )}
          </Field>
        )}
        {provider?.handshakeTokenNeeded === true && (
          <Field
            label="Handshake token"
            problem={problemAt(problem, 'handshakeToken')}
            hint={
              verification.handshakeTokenSet
                ? 'Set. Leave blank to keep the current secret.'
                : 'The provider asks for this token when you enter the URL.'
            }
          >
            {(ids) => (
              <input
                {...ids}
                className="input mono"
                autoComplete="off"
                value={token}
                onChange={({ target }) => setToken(target.value)}
              />
            )}
          </Field>
        )}
        <Problems of={problemBeside(problem, ['signingSecret', 'handshakeToken'])} />
        <TryVerification
          endpoint={endpoint}
          members={{
            provider: slug,
            ...(secret === '' ? {} : { signingSecret: secret }),
          }}
        />
        <div className="form-foot">
          <Button type="submit" look="primary" disabled={change.isPending}>
            {change.isPending ? 'Saving…' : 'Save provider'}
          </Button>
        </div>
      </form>
    </section>
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
