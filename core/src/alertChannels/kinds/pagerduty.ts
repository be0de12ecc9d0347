import { isMarkup } from '../../alerts/index.ts'
import { textSetting } from '../settings.ts'
import { jsonObject, readByStatus, textMember, wordsOfBody } from './answers.ts'
import { type ChannelKind, type Markup, REGION_FIELD } from './kind.ts'
import { cut, postJson } from './text.ts'

const SUMMARY_MAX = 1024

const markup: Markup = { escape: (text) => text, maxCharacters: SUMMARY_MAX }

const BASES: Readonly<Record<string, string>> = {
  us: 'https://events.pagerduty.com',
  eu: 'https://events.eu.pagerduty.com',
}

/**
 * PagerDuty Events API v2: an opening or single event triggers, a closing one resolves the same `dedup_key`.
 * Our severities are PagerDuty's. Answers 202 `{status, message, dedup_key}`, else `{status, message, errors}`.
 * Source: developer.pagerduty.com/docs/send-alert-event.
 */
export const pagerduty: ChannelKind = {
  displayName: 'PagerDuty',
  credentialLabel: 'Events API v2 integration key',
  credentialRequired: true,
  credential: 'token',
  fields: [REGION_FIELD],
  markup,
  keepsIncidents: true,
  destination: ({ settings }) => `PagerDuty ${textSetting(settings, 'region')}`,
  build(alert, { settings, secret }, { apiUrls }) {
    const base = apiUrls.pagerduty ?? BASES[textSetting(settings, 'region')]
    const key = { routing_key: secret ?? '', dedup_key: alert.incidentId ?? alert.id }
    const event =
      alert.status === 'closed'
        ? { ...key, event_action: 'resolve' }
        : {
            ...key,
            event_action: 'trigger',
            payload: {
              summary: cut(isMarkup(alert) ? alert.message : `${alert.title}: ${alert.message}`, SUMMARY_MAX),
              source: cut(alert.endpoint?.name ?? alert.subject.name, 255),
              severity: alert.severity,
              timestamp: alert.occurredAt.toISOString(),
              component: alert.subject.name,
              group: alert.workspaceName,
              class: alert.kind,
              custom_details: {
                count: alert.count,
                endpoint_id: alert.endpoint?.id ?? null,
                subject_id: alert.subject.id,
                request_id: alert.requestId,
              },
            },
          }
    return postJson(`${base}/v2/enqueue`, event)
  },
  read: (answer) => readByStatus(answer, errorWords),
}

/** Finds the message: `errors` has the details, `message` only the fact that there is an error. */
function errorWords(body: string): string {
  const errors = jsonObject(body)?.errors
  const listed = Array.isArray(errors) ? errors.filter((error) => typeof error === 'string').join('; ') : ''
  return listed === '' ? wordsOfBody(body, (json) => textMember(json, 'message')) : listed
}
