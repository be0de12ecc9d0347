import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { CheckField, SelectField } from '../parts/Field.tsx'
import { Problem, QueryState } from '../parts/Problem.tsx'
import { toast } from '../parts/Toasts.tsx'
import { useCall } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { creel, type Endpoint } from '../trpc.ts'

/** Sends a sample event of a provider to the endpoint. Starts with the provider of the endpoint. */
export function SendSample({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const samples = useQuery({
    queryKey: ['sample events'],
    queryFn: () => creel.samples.list.query({}),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [chosen, setChosen] = useState({ provider: endpoint.provider ?? '', event: '' })
  const [badSignature, setBadSignature] = useState(false)
  const items = samples.data?.items ?? []
  const provider = items.find((one) => one.provider === chosen.provider) ?? items[0]
  const event = provider?.events.find((one) => one.event === chosen.event) ?? provider?.events[0]
  const send = useCall(
    (sample: { provider: string; event: string }) =>
      creel.samples.send.mutate({ endpointId: endpoint.id, badSignature, ...sample }),
    [],
    (sent) => toast(`Sent ${sent.event} as #${sent.requestId}${sent.signed ? '' : ', not signed'}`),
    onClose,
  )
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault()
    if (provider !== undefined && event !== undefined)
      send.mutate({ provider: provider.provider, event: event.event })
  }
  return (
    <Dialog title="Send a sample event" onClose={onClose}>
      <QueryState of={samples} />
      {provider !== undefined && event !== undefined && (
        <Writes>
          <form className="form" onSubmit={submit}>
            <SelectField
              label="Provider"
              options={items.map(({ provider: value, name }) => ({ value, words: name }))}
              value={provider.provider}
              onChange={(slug) => setChosen({ provider: slug, event: '' })}
            />
            <SelectField
              label="Event"
              hint={event.summary}
              options={provider.events.map(({ event: name }) => ({ value: name, words: name }))}
              value={event.event}
              onChange={(name) => setChosen({ provider: provider.provider, event: name })}
            />
            <CheckField label="Sign with a wrong secret" value={badSignature} onChange={setBadSignature} />
            <p className="hint">
              The event is signed with the secret of this endpoint if it has the same provider, and runs its
              actions.
            </p>
            <Problem error={send.error} />
            <div className="form-foot">
              <Button type="submit" look="primary" disabled={send.isPending}>
                {send.isPending ? 'Sending…' : 'Send'}
              </Button>
              <Button onClick={onClose}>Cancel</Button>
            </div>
          </form>
        </Writes>
      )}
    </Dialog>
  )
}
