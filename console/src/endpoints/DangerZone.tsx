import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { TextField } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem } from '../parts/Problem.tsx'
import { toast } from '../parts/Toasts.tsx'
import { useForm } from '../parts/useForm.ts'
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
    <Card title="Clear or delete" name="Danger">
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
    </Card>
  )
}

function DeleteEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const [, navigate] = useLocation()
  const form = useForm({
    begin: () => ({ typed: '' }),
    save: () => creel.endpoints.remove.mutate({ endpointId: endpoint.id }),
    stale: [['endpoints']],
    onSaved: () => {
      onClose()
      navigate('/')
      toast(`${endpoint.name} deleted`)
    },
  })
  return (
    <Dialog title={`Delete ${endpoint.name}?`} onClose={onClose}>
      <form className="form" onSubmit={form.submit}>
        <p>
          This deletes the endpoint with {plural(endpoint.storedRequestCount, 'request')} and its actions,
          rules and watchdogs. Its URL stops working at once. This cannot be undone.
        </p>
        <TextField label={`Type ${endpoint.name}`} {...form.field('typed')} />
        <FormFoot
          form={form}
          submit="Delete permanently"
          look="danger"
          isOff={form.draft.typed !== endpoint.name}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}
