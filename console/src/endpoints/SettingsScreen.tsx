import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useAddress } from '../address.ts'
import { Button } from '../parts/Button.tsx'
import { Card } from '../parts/Card.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { TextField } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Switch } from '../parts/Switch.tsx'
import { toast } from '../parts/toasts.ts'
import { useForm } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { PrivacySettings } from '../privacy/PrivacySettings.tsx'
import { MissingEvents } from '../reconcile/MissingEvents.tsx'
import { creel, type Endpoint } from '../trpc.ts'
import { AnswerSettings } from './AnswerSettings.tsx'
import { CaptureUrl } from './CaptureUrl.tsx'
import { DangerZone } from './DangerZone.tsx'
import { EventSettings } from './EventSettings.tsx'
import { ProviderSettings } from './ProviderSettings.tsx'
import { ResponseSettings } from './ResponseSettings.tsx'
import { SenderSettings } from './SenderSettings.tsx'
import { changesOf, draftOf, isReadable, NO_SECRETS, type SettingsForm } from './settingsDraft.ts'
import { useEndpointCall } from './useEndpointCall.ts'

/** The settings of an endpoint: one form, and the parts that take effect at once. */
export function SettingsScreen({ endpoint }: { endpoint: Endpoint; item: string | undefined }) {
  const queries = useQueryClient()
  const [params] = useAddress()
  const [secrets, setSecrets] = useState(NO_SECRETS)
  const endpointId = endpoint.id
  const form = useForm({
    keptAs: `settings ${endpointId}`,
    begin: () => draftOf(endpoint),
    preset: params.has('provider') ? { provider: params.get('provider') ?? '' } : {},
    stored: async () => draftOf(await creel.endpoints.get.query({ endpointId })),
    save: (draft, before) =>
      creel.endpoints.update.mutate({ endpointId, ...changesOf(draft, before, secrets) }),
    stale: [['endpoints']],
    onSaved: (saved) => {
      queries.setQueryData(['endpoint', endpointId], saved)
      show(saved)
      toast('Saved')
    },
  })
  const show = (stored: Endpoint) => {
    form.reset(draftOf(stored))
    form.forget()
    setSecrets(NO_SECRETS)
  }
  useEffect(() => {
    if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [])
  const isChanged = form.isChanged || secrets !== NO_SECRETS
  const typed = { secrets, onSecrets: setSecrets }
  return (
    <>
      <CaptureUrl endpoint={endpoint} />
      <Writes>
        <form className="page-form" onSubmit={form.submit} aria-label="Settings">
          <NameSettings endpoint={endpoint} form={form} />
          <ProviderSettings endpoint={endpoint} form={form} {...typed} />
          <SenderSettings endpoint={endpoint} form={form} {...typed} />
          <EventSettings form={form} />
          <ResponseSettings form={form} />
          <AnswerSettings endpoint={endpoint} form={form} />
          <PrivacySettings endpoint={endpoint} form={form} />
          <div className="save-bar" data-changed={isChanged}>
            {form.saved?.warnings?.map((warning) => (
              <p key={warning} className="banner" role="status">
                {warning}
              </p>
            ))}
            <FormFoot
              form={form}
              submit="Save"
              isOff={!isChanged || !isReadable(form.draft)}
              cancel="Discard changes"
              isSettled={!isChanged}
              onCancel={() => show(endpoint)}
            />
          </div>
        </form>
        <MissingEvents endpoint={endpoint} />
        <DangerZone endpoint={endpoint} />
      </Writes>
    </>
  )
}

function NameSettings({ endpoint, form }: { endpoint: Endpoint; form: SettingsForm }) {
  const { id: endpointId, isActive, name } = endpoint
  const [isAsking, setAsking] = useState(false)
  const turn = useEndpointCall(
    endpointId,
    (isOn: boolean) => creel.endpoints.update.mutate({ endpointId, isActive: isOn }),
    () => setAsking(false),
  )
  return (
    <Card title="Name">
      <div className="row-2">
        <TextField label={<span className="sr-only">Endpoint name</span>} {...form.field('name')} />
        <Switch
          isOn={isActive}
          isDisabled={turn.isPending}
          onChange={(isOn) => (isOn ? turn.mutate(true) : setAsking(true))}
          label="The endpoint is switched on"
        >
          {isActive ? 'Capturing' : 'Off: senders get 404'}
        </Switch>
      </div>
      <Problem error={turn.error} />
      {isAsking && (
        <Dialog title={`Stop capturing with ${name}?`} onClose={() => setAsking(false)}>
          <p>Senders get 404 until you switch it on again. What they send meanwhile is lost.</p>
          <div className="form-foot">
            <Button look="danger" disabled={turn.isPending} onClick={() => turn.mutate(false)}>
              Stop capturing
            </Button>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
          </div>
        </Dialog>
      )}
    </Card>
  )
}
