import type { Severity } from '../../alerts/index.ts'
import { textSetting } from '../settings.ts'
import { readByStatus, textMember, wordsOfBody } from './answers.ts'
import { type ChannelKind, type Markup, REGION_FIELD } from './kind.ts'
import { cut, postJson } from './text.ts'

const MESSAGE_MAX = 130
const DESCRIPTION_MAX = 15_000
const ENTITY_MAX = 512

const markup: Markup = { escape: (text) => text, maxCharacters: DESCRIPTION_MAX }

const BASES: Readonly<Record<string, string>> = {
  us: 'https://api.opsgenie.com',
  eu: 'https://api.eu.opsgenie.com',
}

const PRIORITIES: { readonly [S in Severity]: string } = {
  critical: 'P1',
  error: 'P2',
  warning: 'P3',
  info: 'P5',
}

/**
 * Opsgenie Alert API: an opening or single event creates an alert under an alias, a closing one closes that alias.
 * Answers 202 `{result, requestId}`, else `{message}`. The API ends in April 2027.
 * Source: docs.opsgenie.com/docs/alert-api.
 */
export const opsgenie: ChannelKind = {
  displayName: 'Opsgenie',
  credentialLabel: 'API key',
  credentialRequired: true,
  credential: 'token',
  fields: [
    {
      ...REGION_FIELD,
      help: `${REGION_FIELD.help} Atlassian ends the Opsgenie API in April 2027.`,
    },
  ],
  markup,
  keepsIncidents: true,
  destination: ({ settings }) => `Opsgenie ${textSetting(settings, 'region')}`,
  build(alert, { settings, secret }, { apiUrls }) {
    const base = apiUrls.opsgenie ?? BASES[textSetting(settings, 'region')]
    const alias = alert.incidentId ?? alert.id
    const headers = { authorization: `GenieKey ${secret ?? ''}` }
    if (alert.status === 'closed') {
      return postJson(
        `${base}/v2/alerts/${alias}/close?identifierType=alias`,
        { source: 'Creel', note: cut(alert.message, 25_000) },
        headers,
      )
    }
    return postJson(
      `${base}/v2/alerts`,
      {
        message: cut(alert.title, MESSAGE_MAX),
        alias,
        description: cut(alert.message, DESCRIPTION_MAX),
        entity: cut(alert.subject.name, ENTITY_MAX),
        source: 'Creel',
        priority: PRIORITIES[alert.severity],
        tags: [alert.kind],
        details: {
          workspace: alert.workspaceName,
          endpoint: alert.endpoint?.name ?? '',
          request: String(alert.requestId ?? ''),
          count: String(alert.count),
        },
      },
      headers,
    )
  },
  read: (answer) => readByStatus(answer, (body) => wordsOfBody(body, (json) => textMember(json, 'message'))),
}
