import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useId, useState } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import { Button } from '../parts/Button.tsx'
import { TextField } from '../parts/Field.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Badge, VERDICT_WORDS, VerdictMark } from '../parts/StateMark.tsx'
import { useCall } from '../parts/useForm.ts'
import { providersQuery } from '../queries.ts'
import { creel, type Endpoint, type Inputs, type Provider } from '../trpc.ts'
import { ago } from '../words/format.ts'
import { problemOf } from '../words/problem.ts'
import type { SecretProps } from './SenderSettings.tsx'

/** The provider of the endpoint, and the secret that verifies its signatures. */
export function ProviderSettings({ endpoint, form, secrets, onSecrets }: SecretProps) {
  const providers = useQuery(providersQuery)
  const { provider: slug } = form.draft
  const provider = providers.data?.items.find((one) => one.slug === slug)
  const { handshakeTokenSet, secretSet, secretSetAt, source } = endpoint.verification
  const { handshakeToken, signingSecret } = secrets
  return (
    <Card title="Provider" id="provider" acts={source === 'manual' && <Badge>custom signature scheme</Badge>}>
      <div className="form">
        <ProviderPicker slug={slug} onChange={(next) => form.change({ provider: next })} />
        <Problem error={providers.error} onRetry={() => void providers.refetch()} />
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
  const { setupPath, verification } = provider
  return (
    <p className="hint">
      {verification === null
        ? 'This provider does not sign its requests.'
        : `${schemeOf(provider)}${verification.supported ? '' : ', which Creel cannot verify'}.`}
      {setupPath !== null && ` Enter the capture URL there under: ${setupPath}.`}
    </p>
  )
}

interface Props {
  readonly endpoint: Endpoint
  /** The unsaved settings. An empty secret means the stored one. */
  readonly members: Omit<Inputs['verification']['try'], 'endpointId' | 'requestId'>
}

/**
 * Verifies a captured request with the unsaved settings: the request that the user came from, else the newest. Saves
 * nothing.
 */
function TryVerification({ endpoint, members }: Props) {
  const [params] = useAddress()
  const newest = useQuery({
    queryKey: ['newest', endpoint.id],
    queryFn: () => creel.requests.list.query({ endpointId: endpoint.id, page: 1, pageSize: 1 }),
  })
  const asked = Number(params.get('on') ?? 0)
  const requestId = asked > 0 ? asked : newest.data?.items[0]?.id
  const tried = useCall((id: number) =>
    creel.verification.try.mutate({ endpointId: endpoint.id, requestId: id, ...members }),
  )
  if (requestId === undefined) return null
  const verification = tried.data?.verification
  return (
    <div className="try">
      <Button {...tried.button(requestId)}>{tried.isPending ? 'Testing…' : `Test on #${requestId}`}</Button>
      <output aria-live="polite">
        {tried.error !== null && (
          <span className="bad">
            {problemOf(tried.error).items[0]?.detail ?? problemOf(tried.error).detail}
          </span>
        )}
        {verification === null && 'No signature would be checked.'}
        {verification !== null && verification !== undefined && (
          <>
            <VerdictMark verification={verification} size={15} />{' '}
            <b>{VERDICT_WORDS[verification.verdict]}.</b> {verification.note}
          </>
        )}
      </output>
      {asked > 0 && (
        <Link className="link" href={`/e/${endpoint.id}?r=${asked}`}>
          Back to request
        </Link>
      )}
    </div>
  )
}

/** A signature scheme in words. Its encoding is left out: it is the provider's business. */
function schemeOf({ signatureHeader, verification }: Provider): string {
  if (verification === null) return 'no signatures'
  const hmac = /^hmac-(sha\d+|md5)/.exec(verification.scheme)?.[0]
  const scheme = hmac?.toUpperCase() ?? verification.scheme.replaceAll('-', ' ')
  return signatureHeader === null ? scheme : `${scheme} in ${signatureHeader}`
}

const NO_PROVIDER = { slug: '', name: 'No provider', about: 'signatures are not checked' } as const

/** Choice of a provider from the catalog, with a search. */
function ProviderPicker({ slug, onChange }: { slug: string; onChange: (slug: string) => void }) {
  const providers = useQuery(providersQuery)
  const [typed, setTyped] = useState<string>()
  const [chosen, setChosen] = useState(0)
  const list = useId()
  const all = [
    NO_PROVIDER,
    ...(providers.data?.items ?? []).map((one) => ({ slug: one.slug, name: one.name, about: schemeOf(one) })),
  ]
  const wanted = (typed ?? '').trim().toLowerCase()
  const isWanted = (name: string) => wanted !== '' && name.toLowerCase() === wanted
  const offered =
    typed === undefined
      ? []
      : all.filter(({ name, slug: own }) => `${name} ${own}`.toLowerCase().includes(wanted)).slice(0, 60)
  const current = all.find((one) => one.slug === slug)?.name ?? slug
  const choose = (next: string | undefined) => {
    if (next !== undefined) onChange(next)
    setTyped(undefined)
  }
  const press = (event: KeyboardEvent) => {
    if (typed === undefined || event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown') setChosen(Math.min(offered.length - 1, chosen + 1))
    else if (event.key === 'ArrowUp') setChosen(Math.max(0, chosen - 1))
    else if (event.key === 'Enter') choose(offered[chosen]?.slug)
    else if (event.key === 'Escape') choose(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="field picker">
      <label htmlFor={`${list}-input`}>Provider</label>
      <input
        id={`${list}-input`}
        className="input"
        role="combobox"
        aria-expanded={offered.length > 0}
        aria-controls={list}
        aria-activedescendant={offered.length > 0 ? `${list}-${chosen}` : undefined}
        value={typed ?? current}
        placeholder="stripe, github, shopify…"
        autoComplete="off"
        onFocus={(event) => event.target.select()}
        onChange={({ target }) => {
          setTyped(target.value)
          setChosen(0)
        }}
        // A name that was typed in full is chosen.
        onBlur={() => choose(offered.find((one) => [one.name, one.slug].some(isWanted))?.slug)}
        onKeyDown={press}
      />
      <div id={list} role="listbox" aria-label="Providers" className="options" hidden={offered.length === 0}>
        {offered.map((one, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field chooses
          <div
            key={one.slug}
            id={`${list}-${at}`}
            role="option"
            aria-selected={at === chosen}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(one.slug)}
          >
            {one.name} <small>{one.about}</small>
          </div>
        ))}
      </div>
    </div>
  )
}
