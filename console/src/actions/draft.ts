import {
  type ConditionText,
  conditionOfAddress,
  textOfCondition,
  writtenOf,
} from '../conditions/ConditionField.tsx'
import type { Action } from '../trpc.ts'
import { type AuthDraft, authOf, draftOfAuth } from './AuthFields.tsx'
import { type DeliveryDraft, deliveryOf, draftOfDelivery } from './deliveryDraft.ts'

/** TLS settings while they are written, without the key. */
export interface TlsDraft {
  readonly clientCertificate: string
  readonly certificateAuthority: string
}

export interface ActionDraft {
  readonly kind: 'forward' | 'notify'
  readonly name: string
  readonly url: string
  /** Whether the captured path, and query, follow the URL. */
  readonly appendPath: boolean
  readonly appendQuery: boolean
  readonly alertChannelId: string
  readonly messageTemplate: string
  readonly condition: ConditionText
  readonly signingScheme: Action['signing']['scheme']
  readonly delivery: DeliveryDraft
  readonly auth: AuthDraft
  readonly tls: TlsDraft
}

/** Secrets that are typed; null keeps the one that is set. They are never kept in the browser. */
export interface TypedSecrets {
  readonly signingSecret: string | null
  readonly auth: string | null
  readonly clientKey: string | null
}

/** Nothing is typed: every secret stays. */
export const NO_SECRETS: TypedSecrets = { signingSecret: null, auth: null, clientKey: null }

const TEMPLATE = '{{ label }} on {{ endpoint.name }}: {{ body.id }}'

/** Draft of a new action. If the user came from a value of a body, it has a condition on that value. */
export function newDraft(params: URLSearchParams): ActionDraft {
  return {
    kind: 'forward',
    name: '',
    url: '',
    appendPath: false,
    appendQuery: false,
    alertChannelId: '',
    messageTemplate: TEMPLATE,
    condition: conditionOfAddress(params),
    ...termsOf(undefined),
  }
}

export function draftOfAction(action: Action): ActionDraft {
  return {
    kind: action.kind === 'notify' ? 'notify' : 'forward',
    name: action.name,
    url: action.url ?? '',
    appendPath: action.appendPath,
    appendQuery: action.appendQuery,
    alertChannelId: action.alertChannelId ?? '',
    messageTemplate: action.messageTemplate ?? TEMPLATE,
    condition: textOfCondition(action.condition),
    ...termsOf(action),
  }
}

function termsOf(action: Action | undefined) {
  return {
    signingScheme: action?.signing.scheme ?? 'creel',
    delivery: draftOfDelivery(action?.delivery ?? null),
    auth: draftOfAuth(action?.auth),
    tls: {
      clientCertificate: action?.tls?.clientCertificate ?? '',
      certificateAuthority: action?.tls?.certificateAuthority ?? '',
    },
  } as const
}

/**
 * The API's input for this kind of action. A condition that is not valid JSON is sent as text, so that the API's
 * refusal explains it.
 */
export function membersOf(draft: ActionDraft, secrets: TypedSecrets) {
  const { alertChannelId, condition, kind, messageTemplate, name, url } = draft
  const shared = {
    ...(name.trim() === '' ? {} : { name: name.trim() }),
    condition: writtenOf(condition),
  }
  if (kind === 'notify') return { ...shared, alertChannelId, messageTemplate }
  const { signingSecret } = secrets
  return {
    ...shared,
    url: url.trim(),
    appendPath: draft.appendPath,
    appendQuery: draft.appendQuery,
    ...(signingSecret === null ? {} : { signingSecret }),
    signing: { scheme: draft.signingScheme },
    delivery: deliveryOf(draft.delivery),
    auth: authOf(draft.auth, secrets.auth),
    tls: tlsOf(draft.tls, secrets.clientKey),
  }
}

function tlsOf(draft: TlsDraft, clientKey: string | null) {
  const clientCertificate = draft.clientCertificate.trim()
  const certificateAuthority = draft.certificateAuthority.trim()
  if (clientCertificate === '' && certificateAuthority === '' && clientKey === null) return null
  return { clientCertificate, certificateAuthority, ...(clientKey === null ? {} : { clientKey }) }
}
