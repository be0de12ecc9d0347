import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { Field } from '../parts/Field.tsx'
import { Problem } from '../parts/Problem.tsx'
import { toast } from '../parts/toasts.ts'
import { creel, type Endpoint } from '../trpc.ts'
import { plural } from '../words/format.ts'

/** Clears the captures, which go to the recycle bin, or deletes the endpoint after its name was typed. */
export function DangerZone({ endpoint }: { endpoint: Endpoint }) {
  const [isAsking, setAsking] = useState(false)
  const queries = useQueryClient()
  const clear = useMutation({
    mutationFn: () => creel.requests.clear.mutate({ endpointId: endpoint.id }),
    onSuccess: async ({ deletedCount }) => {
      await queries.invalidateQueries()
      toast(`${plural(deletedCount, 'request')} moved to the recycle bin`)
    },
  })
  return (
    <section className="card" aria-label="Danger">
      <h2>Clear or delete</h2>
      <div className="acts">
        <Button disabled={clear.isPending} onClick={() => clear.mutate()}>
          Move all {plural(endpoint.storedRequestCount, 'request')} to the recycle bin
        </Button>
        <Button look="danger" onClick={() => setAsking(true)}>
          Delete endpoint…
        </Button>
      </div>
      <Problem error={clear.error} />
      {isAsking && <DeleteEndpoint endpoint={endpoint} onClose={() => setAsking(false)} />}
    </section>
  )
}

function DeleteEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const remove = useMutation({
    mutationFn: () => creel.endpoints.remove.mutate({ endpointId: endpoint.id }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['endpoints'] })
      onClose()
      navigate('/')
      toast(`${endpoint.name} deleted`)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    remove.mutate()
  }
  return (
    <Dialog title={`Delete ${endpoint.name}?`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>
          This deletes the endpoint with {plural(endpoint.storedRequestCount, 'request')} and its actions,
          rules and watchdogs. Its URL stops working at once. This cannot be undone.
        </p>
        <Field label={`Type ${endpoint.name}`}>
          {(ids) => (
            <input
              {...ids}
              className="input"
              autoComplete="off"
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
          )}
        </Field>
        <Problem error={remove.error} />
        <div className="dialog-foot">
          <Button type="submit" look="danger" disabled={typed !== endpoint.name || remove.isPending}>
            Delete permanently
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}
