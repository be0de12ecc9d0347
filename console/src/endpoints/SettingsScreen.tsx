import { type FormEvent, useEffect } from 'react'
import { Button } from '../parts/Button.tsx'
import { Field } from '../parts/Field.tsx'
import { Problems } from '../parts/Problem.tsx'
import { Switch } from '../parts/Switch.tsx'
import { usePersisted } from '../parts/usePersisted.ts'
import { Writes } from '../parts/Writes.tsx'
import { PrivacySettings } from '../privacy/PrivacySettings.tsx'
import { MissingEvents } from '../reconcile/MissingEvents.tsx'
import type { Endpoint } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { AnswerSettings } from './AnswerSettings.tsx'
import { CaptureUrl } from './CaptureUrl.tsx'
import { DangerZone } from './DangerZone.tsx'
import { EventSettings } from './EventSettings.tsx'
import { ProviderSettings } from './ProviderSettings.tsx'
import { ResponseSettings } from './ResponseSettings.tsx'
import { SenderSettings } from './SenderSettings.tsx'
import { useEndpointChange } from './useEndpointChange.ts'

/** The settings of an endpoint: name, provider, events, response, privacy, and deletion. */
export function SettingsScreen({ endpoint }: { endpoint: Endpoint; item: string | undefined }) {
  useEffect(() => {
    if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [])
  return (
    <>
      <Writes>
        <NameSettings endpoint={endpoint} />
      </Writes>
      <CaptureUrl endpoint={endpoint} />
      <Writes>
        <ProviderSettings endpoint={endpoint} />
        <SenderSettings endpoint={endpoint} />
        <EventSettings endpoint={endpoint} />
        <MissingEvents endpoint={endpoint} />
        <ResponseSettings endpoint={endpoint} />
        <AnswerSettings endpoint={endpoint} />
        <PrivacySettings endpoint={endpoint} />
        <DangerZone endpoint={endpoint} />
      </Writes>
    </>
  )
}

function NameSettings({ endpoint }: { endpoint: Endpoint }) {
  const [name, setName, forget] = usePersisted(`name ${endpoint.id}`, endpoint.name)
  const change = useEndpointChange(endpoint.id, forget)
  const problem = change.error === null ? null : problemOf(change.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({ name: name.trim() })
  }
  return (
    <section className="card" aria-label="Name">
      <h2>Name</h2>
      <form className="acts" onSubmit={submit}>
        <Field label={<span className="sr-only">Endpoint name</span>} problem={problemAt(problem, 'name')}>
          {(ids) => (
            <input {...ids} className="input" value={name} onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
        <Button type="submit" disabled={change.isPending || name === endpoint.name}>
          Rename
        </Button>
        <Switch
          isOn={endpoint.isActive}
          isDisabled={change.isPending}
          onChange={(isActive) => change.mutate({ isActive })}
          label="The endpoint is switched on"
        >
          {endpoint.isActive ? 'Capturing' : 'Off: senders get 404'}
        </Switch>
      </form>
      <Problems of={problemBeside(problem, ['name'])} />
    </section>
  )
}
