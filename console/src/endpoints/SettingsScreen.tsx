import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect } from 'react'
import { Field } from '../parts/Field.tsx'
import { Switch } from '../parts/Switch.tsx'
import { toast } from '../parts/toasts.ts'
import { usePersisted } from '../parts/usePersisted.ts'
import { creel, type Endpoint, type Inputs } from '../trpc.ts'
import { problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { DangerZone } from './DangerZone.tsx'
import { ProviderSettings } from './ProviderSettings.tsx'
import { ResponseSettings } from './ResponseSettings.tsx'

/** Changes members of an endpoint, and reads it anew everywhere. */
export function useEndpointChange(endpointId: string, onSaved: () => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (members: Omit<Inputs['endpoints']['update'], 'endpointId'>) =>
      creel.endpoints.update.mutate({ endpointId, ...members }),
    onSuccess: async (saved) => {
      queries.setQueryData(['endpoint', endpointId], saved)
      await queries.invalidateQueries({ queryKey: ['endpoints'] })
      toast('Saved')
      onSaved()
    },
  })
}

/** The settings of an endpoint: its name, who sends, what senders get, and its end. */
export function SettingsScreen({ endpoint }: { endpoint: Endpoint; item: string | undefined }) {
  useEffect(() => {
    if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [])
  return (
    <>
      <NameSettings endpoint={endpoint} />
      <ProviderSettings endpoint={endpoint} />
      <ResponseSettings endpoint={endpoint} />
      <DangerZone endpoint={endpoint} />
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
        <Field
          label={<span className="sr-only">Name of the endpoint</span>}
          problem={problemAt(problem, 'name')}
        >
          {(ids) => (
            <input {...ids} className="input" value={name} onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
        <button type="submit" className="button" disabled={change.isPending || name === endpoint.name}>
          Rename
        </button>
        <Switch
          isOn={endpoint.isActive}
          isDisabled={change.isPending}
          onChange={(isActive) => change.mutate({ isActive })}
          label="The endpoint is switched on"
        >
          {endpoint.isActive ? 'on: captures' : 'off: senders get 404'}
        </Switch>
      </form>
      {problemBeside(problem, ['name']).map((detail) => (
        <p key={detail} className="problem" role="alert">
          {detail}
        </p>
      ))}
    </section>
  )
}
