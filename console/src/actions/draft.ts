import { conditionOfAddress, textOfCondition, writtenOf } from '../conditions/ConditionField.tsx'
import type { Action } from '../trpc.ts'
import { authOf, draftOfAuth } from './AuthFields.tsx'
import { deliveryOf, draftOfDelivery } from './deliveryDraft.ts'

export type ActionDraft = ReturnType<typeof draftOfAction>

/** TLS settings while they are written, without the key. */
export type TlsDraft = ActionDraft['tls']

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
export const newDraft = (params: URLSearchParams): ActionDraft => ({
  ...draftOfAction(undefined),
  condition: conditionOfAddress(params),
})

export function draftOfAction(action: Action | undefined) {
  return {
    kind: action?.kind === 'notify' ? ('notify' as const) : ('forward' as const),
    name: action?.name ?? '',
    url: action?.url ?? '',
    // Whether the captured path, and query, follow the URL.
    appendPath: action?.appendPath ?? false,
    appendQuery: action?.appendQuery ?? false,
    alertChannelId: action?.alertChannelId ?? '',
    messageTemplate: action?.messageTemplate ?? TEMPLATE,
    condition: textOfCondition(action?.condition ?? {}),
    signingScheme: action?.signing.scheme ?? 'creel',
    delivery: draftOfDelivery(action?.delivery ?? null),
    auth: draftOfAuth(action?.auth),
    tls: {
      clientCertificate: action?.tls?.clientCertificate ?? '',
      certificateAuthority: action?.tls?.certificateAuthority ?? '',
    },
  }
}

/**
 * The API's input for this kind of action. A condition that is not valid JSON is sent as text, so that the API's
 * refusal explains it. A new one without a name gets the default.
 */
export function membersOf(draft: ActionDraft, secrets: TypedSecrets, isNew: boolean) {
  const { alertChannelId, condition, kind, messageTemplate, name, url } = draft
  const shared = {
    ...(isNew && name.trim() === '' ? {} : { name: name.trim() }),
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
