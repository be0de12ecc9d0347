import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { Button } from '../parts/Button.tsx'
import { TextField } from '../parts/Field.tsx'
import { FormDialog } from '../parts/FormFoot.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem } from '../parts/Problem.tsx'
import { toast } from '../parts/Toasts.tsx'
import { useCall, useForm } from '../parts/useForm.ts'
import { endpointsQuery } from '../queries.ts'
import { creel, type Endpoint } from '../trpc.ts'
import { plural } from '../words/format.ts'

const EVERY_QUERY = [[]] as const

/** Clears the captures, which go to the recycle bin, or shreds them or deletes the endpoint after its name was typed. */
export function DangerZone({ endpoint: read }: { endpoint: Endpoint }) {
  // The list is live: its number of requests, and its name.
  const endpoint = useQuery(endpointsQuery).data?.items.find(({ id }) => id === read.id) ?? read
  const [asking, setAsking] = useState<'delete' | 'shred' | null>(null)
  const clear = useCall(
    () => creel.requests.clear.mutate({ endpointId: endpoint.id }),
    EVERY_QUERY,
    ({ deletedCount }) => toast(`${plural(deletedCount, 'request')} moved to the recycle bin`),
  )
  return (
    <Card title="Clear or delete" name="Danger">
      <div className="acts">
        <Button {...clear.button()}>
          Move all {plural(endpoint.storedRequestCount, 'request')} to the recycle bin
        </Button>
        {endpoint.encryptBodies && (
          <Button look="danger" onClick={() => setAsking('shred')}>
            Shred encrypted requests…
          </Button>
        )}
        <Button look="danger" onClick={() => setAsking('delete')}>
          Delete endpoint…
        </Button>
      </div>
      <Problem error={clear.error} />
      {asking === 'delete' && <DeleteEndpoint endpoint={endpoint} onClose={() => setAsking(null)} />}
      {asking === 'shred' && <ShredEndpoint endpoint={endpoint} onClose={() => setAsking(null)} />}
    </Card>
  )
}

function ShredEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const form = useForm({
    begin: () => ({ typed: '' }),
    save: () => creel.endpoints.shred.mutate({ endpointId: endpoint.id }),
    stale: EVERY_QUERY,
    tell: () => toast(`The key of ${endpoint.name} is destroyed`),
    onSaved: onClose,
  })
  return (
    <FormDialog
      title={`Shred ${endpoint.name}?`}
      form={form}
      submit="Shred permanently"
      look="danger"
      isOff={form.draft.typed !== endpoint.name}
      onClose={onClose}
    >
      <p>
        This destroys the key of everything that the endpoint has encrypted: bodies, headers, queries and
        records of attempts are gone for ever, also in the recycle bin and in backups without their keys.
        Later captures get another key. This cannot be undone.
      </p>
      <TextField label={`Type ${endpoint.name}`} {...form.field('typed')} />
    </FormDialog>
  )
}

function DeleteEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const [, navigate] = useLocation()
  const queries = useQueryClient()
  const form = useForm({
    begin: () => ({ typed: '' }),
    save: async () => {
      const answer = await creel.endpoints.remove.mutate({ endpointId: endpoint.id })
      // Remove it from the cached list at once: the start page would lead to it before the list is read again.
      queries.setQueryData(endpointsQuery.queryKey, (known) => {
        const items = known?.items.filter(({ id }) => id !== endpoint.id) ?? []
        return known && { ...known, items, totalCount: known.totalCount - known.items.length + items.length }
      })
      return answer
    },
    stale: [['endpoints']],
    tell: () => toast(`${endpoint.name} deleted`),
    onSaved: () => {
      onClose()
      navigate('/')
    },
  })
  return (
    <FormDialog
      title={`Delete ${endpoint.name}?`}
      form={form}
      submit="Delete permanently"
      look="danger"
      isOff={form.draft.typed !== endpoint.name}
      onClose={onClose}
    >
      <p>
        This deletes the endpoint with {plural(endpoint.storedRequestCount, 'request')} and its actions, rules
        and watchdogs. Its URL stops working at once. This cannot be undone.
      </p>
      <TextField label={`Type ${endpoint.name}`} {...form.field('typed')} />
    </FormDialog>
  )
}
