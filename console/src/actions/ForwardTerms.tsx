import { type ReactNode, useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { Field, SecretField, TextField } from '../parts/Field.tsx'
import { Segments, SegmentsField } from '../parts/Segments.tsx'
import type { Form, Part } from '../parts/useForm.ts'
import type { Action } from '../trpc.ts'
import { ago } from '../words/format.ts'
import { problemAt } from '../words/problem.ts'
import { AuthFields } from './AuthFields.tsx'
import type { DeliveryDraft } from './deliveryDraft.ts'
import type { ActionDraft, TlsDraft, TypedSecrets } from './draft.ts'

const SCHEMES = [
  { value: 'creel', words: 'Creel' },
  { value: 'standard-webhooks', words: 'Standard Webhooks' },
] as const

interface Props {
  readonly form: Part<ActionDraft> & Pick<Form<ActionDraft, Action>, 'problem'>
  readonly action: Action | undefined
  readonly secrets: TypedSecrets
  readonly onSecrets: (typed: Partial<TypedSecrets>) => void
}

/** On what terms a forward is sent: signature, treatment of the receiver, credentials, TLS. */
export function ForwardTerms({ form, action, secrets, onSecrets }: Props) {
  const { draft, problem } = form
  const isWrong = (member: string) => problemAt(problem, member) !== ''
  const isCustom = action?.delivery !== null && action !== undefined
  const schemeProblem = form.at('signing')
  return (
    <>
      <Section
        title="Signature"
        state={action?.signing.signed === true ? `signed, ${draft.signingScheme}` : 'not signed'}
        isWrong={isWrong('signingSecret') || schemeProblem !== ''}
      >
        <Segments label="Signature scheme" options={SCHEMES} {...form.field('signingScheme')} />
        {schemeProblem !== '' && <p className="field-problem">{schemeProblem}</p>}
        <SigningSecret
          signing={action?.signing}
          scheme={draft.signingScheme}
          value={secrets.signingSecret}
          problem={form.at('signingSecret')}
          onChange={(signingSecret) => onSecrets({ signingSecret })}
        />
      </Section>
      <Section title="Delivery" state={isCustom ? 'custom' : 'default'} isWrong={isWrong('delivery')}>
        <DeliveryFields form={form.part('delivery')} />
      </Section>
      <Section title="Credentials" state={draft.auth.kind} isWrong={isWrong('auth')}>
        <AuthFields
          form={form.part('auth')}
          stored={action?.auth}
          secret={secrets.auth}
          onSecret={(auth) => onSecrets({ auth })}
        />
      </Section>
      <Section title="TLS" state={action?.tls ? 'custom' : 'default'} isWrong={isWrong('tls')}>
        <TlsFields
          form={form.part('tls')}
          stored={action?.tls}
          clientKey={secrets.clientKey}
          onKey={(clientKey) => onSecrets({ clientKey })}
        />
      </Section>
    </>
  )
}

interface TlsProps {
  readonly form: Part<TlsDraft>
  /** The stored settings; null or undefined without any. */
  readonly stored: Action['tls'] | undefined
  /** The typed key; null keeps the stored one. */
  readonly clientKey: string | null
  readonly onKey: (key: string | null) => void
}

const PEM = { kind: 'code', rows: 4, placeholder: '-----BEGIN CERTIFICATE-----' } as const
/** Characters of a date like `2026-12-03`. */
const DATE_LENGTH = 10

/** Fields for the certificate that we show to the receiver, and for the authority that its own must be signed by. */
function TlsFields({ form, stored, clientKey, onKey }: TlsProps) {
  return (
    <>
      {stored !== null && stored !== undefined && (
        <p className="hint">
          {stored.subject === null ? 'The certificate authority' : stored.subject} is valid until{' '}
          {stored.expiresAt.slice(0, DATE_LENGTH)}.
        </p>
      )}
      <TextField
        label="Client certificate"
        hint="PEM: the client certificate first, then the intermediate ones."
        {...PEM}
        {...form.field('clientCertificate')}
      />
      <SecretField
        label="Client key"
        setAt={stored?.isSet === true ? stored.setAt : null}
        value={clientKey}
        problem={form.at('clientKey')}
        rows={PEM.rows}
        onChange={onKey}
      />
      <TextField
        label="Certificate authority"
        hint="PEM: the CA of the receiver's certificate. Leave blank to trust the system's CAs."
        {...PEM}
        {...form.field('certificateAuthority')}
      />
    </>
  )
}

interface SectionProps {
  readonly title: string
  readonly state: string
  /** Whether the API complained about it: then it is open. */
  readonly isWrong: boolean
  readonly children: ReactNode
}

/** A part of the form that most readers leave as it is. */
function Section({ title, state, isWrong, children }: SectionProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className="form-section"
      open={isOpen || isWrong}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        {title} <span className="hint">{state}</span>
      </summary>
      <div className="form">{children}</div>
    </details>
  )
}

interface SigningSecretProps {
  readonly signing: Action['signing'] | undefined
  /** The typed secret; null keeps the stored one. */
  readonly value: string | null
  readonly problem: string
  readonly onChange: (value: string | null) => void
  readonly scheme: Action['signing']['scheme']
}

const BYTES = 24

/** Generates a secret in the format of the scheme. */
function newSecret(scheme: SigningSecretProps['scheme']): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES))
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `whsec_${scheme === 'creel' ? hex : btoa(String.fromCharCode(...bytes))}`
}

/** The secret that signs deliveries. It can be set, but not read. */
function SigningSecret({ signing, value, problem, onChange, scheme }: SigningSecretProps) {
  const isSet = signing?.signed === true
  if (value === null) {
    return (
      <div className="acts">
        <span>
          {isSet ? `Signed. The secret was set ${ago(signing.setAt)}.` : 'Deliveries are not signed.'}
        </span>
        <Button look="small" onClick={() => onChange('')}>
          {isSet ? 'Rotate…' : 'Sign deliveries…'}
        </Button>
      </div>
    )
  }
  return (
    <Field
      label="Signing secret"
      problem={problem}
      hint={
        isSet
          ? 'Both signatures are sent for 24 hours, so that the receiver can switch. Leave blank to stop signing.'
          : 'At least 16 characters. Save it now: it is not shown again.'
      }
    >
      {(ids) => (
        <span className="acts">
          <input
            {...ids}
            className="input mono grow"
            value={value}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => onChange(target.value)}
          />
          <Button onClick={() => onChange(newSecret(scheme))}>Generate</Button>
          <Button look="quiet" onClick={() => onChange(null)}>
            {isSet ? 'Keep current' : 'Leave unsigned'}
          </Button>
        </span>
      )}
    </Field>
  )
}

const AFTER_DEAD_LETTER = [
  { value: 'continue', words: 'Continue' },
  { value: 'hold', words: 'Hold the key' },
] as const

const WHEN_GONE = [
  { value: 'end', words: 'End the delivery' },
  { value: 'pause', words: 'End the delivery and pause the action' },
] as const

/** How a destination is treated: time, pace, order, retries, and when to stop. Empty fields leave it to the installation. */
function DeliveryFields({ form }: { readonly form: Part<DeliveryDraft> }) {
  const number = (member: keyof DeliveryDraft, label: string, hint: string, pointer?: string) => (
    <TextField label={label} kind="number" hint={hint} {...form.field(member, pointer)} />
  )
  return (
    <>
      <div className="row-2">
        {number('timeoutSeconds', 'Timeout in seconds', 'For a whole attempt: 1 to 300. Default 15.')}
        {number('concurrency', 'Concurrent attempts', 'Over all processes: 1 to 512.')}
      </div>
      <div className="row-2">
        {number('rateCount', 'Rate: attempts', 'Most attempts that start …', 'rate/count')}
        {number(
          'ratePerSeconds',
          'Rate: per seconds',
          '… in any period of this many seconds.',
          'rate/perSeconds',
        )}
      </div>
      <div className="row-2">
        <TextField
          label="Order by"
          kind="code"
          hint="A path like body.customer.id, or endpoint. Deliveries with the same key are sent one after the other."
          {...form.field('orderBy', 'order/by')}
        />
        {form.draft.orderBy !== '' && (
          <SegmentsField
            label="After a dead letter"
            options={AFTER_DEAD_LETTER}
            {...form.field('onDeadLetter', 'order/onDeadLetter')}
          />
        )}
      </div>
      <div className="row-2">
        <TextField
          label="Retry after"
          kind="code"
          placeholder="5s, 1m, 10m"
          hint="Up to 50 delays. Enter none for no retry."
          {...form.field('delays', 'retry/delays')}
        />
        <TextField
          label="Retry on"
          kind="code"
          placeholder="408, 429, 5xx"
          hint="Response statuses. Default: all but 2xx and 410. Lost connections are always retried."
          {...form.field('on', 'retry/on')}
        />
      </div>
      <div className="row-2">
        {number('failures', 'Circuit breaker: failures', 'After this many failures …', 'breaker/failures')}
        {number(
          'windowSeconds',
          'Circuit breaker: within seconds',
          '… within this many seconds …',
          'breaker/windowSeconds',
        )}
        {number(
          'probeEverySeconds',
          'Circuit breaker: probe every',
          '… send only one attempt per this many seconds.',
          'breaker/probeEverySeconds',
        )}
      </div>
      <SegmentsField label="When the receiver answers 410" options={WHEN_GONE} {...form.field('gone')} />
    </>
  )
}
