import { type ReactNode, useState } from 'react'
import { Segments } from '../parts/Segments.tsx'
import type { Form } from '../parts/useForm.ts'
import type { Action } from '../trpc.ts'
import { AuthFields } from './AuthFields.tsx'
import { DeliveryFields } from './DeliveryFields.tsx'
import type { ActionDraft, TypedSecrets } from './draft.ts'
import { SigningSecret } from './SigningSecret.tsx'
import { TlsFields } from './TlsFields.tsx'

interface Props {
  readonly form: Pick<Form<ActionDraft, Action>, 'draft' | 'change' | 'at'>
  /** Undefined for a new one. */
  readonly action: Action | undefined
  readonly secrets: TypedSecrets
  readonly onSecrets: (typed: Partial<TypedSecrets>) => void
}

/** On what terms a forward is sent: signature, treatment of the receiver, credentials, TLS. */
export function ForwardTerms({ form, action, secrets, onSecrets }: Props) {
  const { at, change, draft } = form
  const isCustom = action?.delivery !== null && action !== undefined
  return (
    <>
      <Section
        title="Signature"
        state={action?.signing.signed === true ? `signed, ${draft.signingScheme}` : 'not signed'}
        problem={at('signingSecret') + at('signing')}
      >
        <Segments
          label="Signature scheme"
          value={draft.signingScheme}
          options={[
            { value: 'creel', words: 'Creel' },
            { value: 'standard-webhooks', words: 'Standard Webhooks' },
          ]}
          onChange={(signingScheme) => change({ signingScheme })}
        />
        {at('signing') !== '' && <p className="field-problem">{at('signing')}</p>}
        <SigningSecret
          signing={action?.signing}
          scheme={draft.signingScheme}
          value={secrets.signingSecret}
          problem={at('signingSecret')}
          onChange={(signingSecret) => onSecrets({ signingSecret })}
        />
      </Section>
      <Section title="Delivery" state={isCustom ? 'custom' : 'default'} problem={at('delivery')}>
        <DeliveryFields
          value={draft.delivery}
          at={(member) => at(`delivery/${member}`)}
          onChange={(members) => change({ delivery: { ...draft.delivery, ...members } })}
        />
      </Section>
      <Section
        title="Credentials"
        state={draft.auth.kind === 'none' ? 'none' : draft.auth.kind}
        problem={at('auth')}
      >
        <AuthFields
          stored={action?.auth}
          value={draft.auth}
          secret={secrets.auth}
          at={(member) => at(`auth/${member}`)}
          onChange={(members) => change({ auth: { ...draft.auth, ...members } })}
          onSecret={(auth) => onSecrets({ auth })}
        />
      </Section>
      <Section title="TLS" state={action?.tls ? 'custom' : 'default'} problem={at('tls')}>
        <TlsFields
          stored={action?.tls}
          value={draft.tls}
          clientKey={secrets.clientKey}
          at={(member) => at(`tls/${member}`)}
          onChange={(members) => change({ tls: { ...draft.tls, ...members } })}
          onKey={(clientKey) => onSecrets({ clientKey })}
        />
      </Section>
    </>
  )
}

interface SectionProps {
  readonly title: string
  /** The setting, in a few words. */
  readonly state: string
  /** The API's complaint about it: then it is open. */
  readonly problem: string
  readonly children: ReactNode
}

/** A part of the form that most readers leave as it is. */
function Section({ title, state, problem, children }: SectionProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className="form-section"
      open={isOpen || problem !== ''}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        {title} <span className="hint">{state}</span>
      </summary>
      <div className="form">{children}</div>
    </details>
  )
}
