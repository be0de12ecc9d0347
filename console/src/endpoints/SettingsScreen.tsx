import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useAddress } from '../address.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { DurationField } from '../parts/DurationField.tsx'
import { CheckField, SelectField, TextField } from '../parts/Field.tsx'
import { FormFoot } from '../parts/FormFoot.tsx'
import { Card } from '../parts/Page.tsx'
import { Problem } from '../parts/Problem.tsx'
import { Switch } from '../parts/Segments.tsx'
import { toast } from '../parts/Toasts.tsx'
import { useForm } from '../parts/useForm.ts'
import { Writes } from '../parts/Writes.tsx'
import { MissingEvents } from '../reconcile/MissingEvents.tsx'
import { creel, type Endpoint } from '../trpc.ts'
import { headerLines, headersOf } from '../words/headers.ts'
import { AnswerSettings } from './AnswerSettings.tsx'
import { CaptureUrl } from './CaptureUrl.tsx'
import { DangerZone } from './DangerZone.tsx'
import { PrivacySettings } from './PrivacySettings.tsx'
import { ProviderSettings } from './ProviderSettings.tsx'
import { SenderSettings } from './SenderSettings.tsx'
import {
  changesOf,
  draftOf,
  isReadable,
  NO_SECRETS,
  type SettingsDraft,
  type SettingsForm,
  secretsLeft,
} from './settingsDraft.ts'
import { useEndpointCall } from './useEndpointCall.ts'

/** The settings of an endpoint: one form, and the parts that take effect at once. */
export function SettingsScreen({ endpoint }: { endpoint: Endpoint; item: string | undefined }) {
  const queries = useQueryClient()
  const [params] = useAddress()
  const [secrets, setSecrets] = useState(NO_SECRETS)
  const sentSecrets = useRef(NO_SECRETS)
  const endpointId = endpoint.id
  const form = useForm({
    keptAs: `settings ${endpointId}`,
    begin: () => draftOf(endpoint),
    preset: params.has('provider') ? { provider: params.get('provider') ?? '' } : {},
    stored: async () => draftOf(await creel.endpoints.get.query({ endpointId })),
    save: (draft, before) => {
      sentSecrets.current = secrets
      return creel.endpoints.update.mutate({ endpointId, ...changesOf(draft, before, secrets) })
    },
    stale: [['endpoints']],
    tell: (saved) => {
      queries.setQueryData(['endpoint', endpointId], saved)
      toast('Saved')
    },
    onSaved: () => setSecrets((now) => secretsLeft(now, sentSecrets.current)),
  })
  const discard = () => {
    form.reset(draftOf(endpoint))
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
          <div className="save-bar">
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
              onCancel={discard}
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
      <div className="acts">
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
      <TextField
        label="Columns of the list"
        kind="code"
        rows={3}
        hint="Up to three paths of the body, one per line, like body.data.amount. Rows show their values."
        {...form.field('columns')}
      />
      <Problem error={turn.error} />
      {isAsking && (
        <Dialog title={`Stop capturing with ${name}?`} onClose={() => setAsking(false)}>
          <p>Senders get 404 until you switch it on again. What they send meanwhile is lost.</p>
          <div className="form-foot">
            <Button look="danger" {...turn.button(false)}>
              Stop capturing
            </Button>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
          </div>
        </Dialog>
      )}
    </Card>
  )
}

const MODES = [
  { value: '', words: 'Deliver again' },
  { value: 'mark', words: 'mark it' },
  { value: 'skip', words: 'store it, and run no action' },
  { value: 'discard', words: 'count it, and store nothing' },
] as const

/** The path of event ids, and the treatment of duplicates. */
function EventSettings({ form }: { form: SettingsForm }) {
  return (
    <Card title="Events" id="events">
      <div className="form">
        <TextField
          label="Id of the event"
          kind="code"
          placeholder="Provider default"
          hint="A path like body.order.id, headers.x-event-id or query.id."
          {...form.field('eventIdPath')}
        />
        <SelectField
          label="When an event comes again"
          hint="The sender is answered as for the first."
          options={MODES}
          {...form.field('dedupeMode', 'dedupe/then')}
        />
        {form.draft.dedupeMode !== '' && (
          <div className="row-2">
            <TextField
              label="The same event has the same"
              kind="code"
              placeholder="id of the event"
              hint="Or the same value at another path."
              {...form.field('dedupeBy', 'dedupe/by')}
            />
            <DurationField
              label="For so long after the first"
              hint="At most 30 days, and as long as requests are kept."
              {...form.field('dedupeWindow', 'dedupe/windowSeconds')}
            />
          </div>
        )}
      </div>
    </Card>
  )
}

/** The response to senders, with a preview. */
function ResponseSettings({ form }: { form: SettingsForm }) {
  return (
    <Card title="Response">
      <div className="two">
        <div className="form">
          <div className="row-2">
            <TextField
              label="Status"
              inputMode="numeric"
              hint="200 to 299, or 400 to 599"
              {...form.field('status', 'responseStatusCode')}
            />
            <TextField
              label="Content type"
              kind="code"
              {...form.field('contentType', 'responseContentType')}
            />
          </div>
          <TextField
            label="Headers"
            rows={2}
            hint="One per line, as Name: value"
            {...form.field('headers', 'responseHeaders')}
          />
          <TextField label="Body" rows={4} {...form.field('body', 'responseBody')} />
          <CheckField
            label="Allow pages in browsers to send (CORS)"
            hint="Any origin may send and read the answers. Preflights are answered and not captured."
            {...form.field('allowsPages', 'allowCors')}
          />
        </div>
        <div className="field">
          <span className="label">Preview</span>
          <p className="sees">{seen(form.draft)}</p>
        </div>
      </div>
    </Card>
  )
}

const seen = ({ body, contentType, headers, status }: SettingsDraft): string =>
  [
    `HTTP/1.1 ${status}`,
    ...(body === '' ? [] : [`Content-Type: ${contentType}`]),
    ...headerLines(headersOf(headers)),
    `Content-Length: ${new TextEncoder().encode(body).length}`,
    '',
    body,
  ].join('\n')
