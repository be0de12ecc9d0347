import type { Alert } from '../../alerts/index.ts'
import { creelSignature, SIGNATURE_HEADER } from '../../engine/signing/index.ts'
import { field, headersSetting, textSetting } from '../settings.ts'
import { readByStatus } from './answers.ts'
import type { ChannelKind, Markup } from './kind.ts'
import { JSON_HEADERS } from './text.ts'

const markup: Markup = { escape: (text) => text, maxCharacters: 65_536 }

/** The body of a webhook channel's message, in snake_case. */
function webhookPayload(alert: Alert) {
  return {
    id: alert.id,
    event_kind: alert.kind,
    severity: alert.severity,
    incident_id: alert.incidentId,
    status: alert.status,
    title: alert.title,
    message: alert.message,
    subject_type: alert.subject.type,
    subject_id: alert.subject.id,
    subject_name: alert.subject.name,
    endpoint_id: alert.endpoint?.id ?? null,
    endpoint_name: alert.endpoint?.name ?? null,
    request_id: alert.requestId,
    count: alert.count,
    opened_at: alert.openedAt?.toISOString() ?? null,
    closed_at: alert.closedAt?.toISOString() ?? null,
    occurred_at: alert.occurredAt.toISOString(),
    workspace_name: alert.workspaceName,
    test: alert.isTest,
  }
}

/** Any HTTP receiver: our own payload, signed like a forward if the channel has a secret. */
export const webhook: ChannelKind = {
  displayName: 'Webhook',
  credentialLabel: 'Signing secret (optional)',
  credentialRequired: false,
  credential: 'signingSecret',
  fields: [
    field({
      name: 'url',
      label: 'URL',
      type: 'url',
      required: true,
      help: 'Gets a JSON POST per alert. With a signing secret, each POST is signed in creel-signature.',
      plainHttp: true,
    }),
    field({
      name: 'headers',
      label: 'Extra headers',
      type: 'headers',
      help: 'Up to 10 headers to add. Every API key of the workspace can read them back.',
    }),
  ],
  markup,
  destination({ settings }) {
    const url = textSetting(settings, 'url')
    if (url === '') return null
    const { host, pathname } = new URL(url)
    return `${host}${pathname}`
  },
  build(alert, { settings, secret }, { now }) {
    const body = JSON.stringify(webhookPayload(alert))
    const signature =
      secret === null ? {} : { [SIGNATURE_HEADER]: creelSignature(Buffer.from(body), [secret], now) }
    return {
      method: 'POST',
      url: textSetting(settings, 'url'),
      headers: { ...headersSetting(settings, 'headers'), ...JSON_HEADERS, ...signature },
      body,
    }
  },
  read: (answer) => readByStatus(answer, (body) => body),
}
