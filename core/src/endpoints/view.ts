import type { z } from 'zod'
import type { Services, Urls } from '../api/services.ts'
import type { CapturedRequest } from '../engine/message/index.ts'
import {
  MANUAL_DEFAULTS,
  type ManualScheme,
  type VerificationFacts,
  type VerificationSettings,
  verificationView,
} from '../engine/verification/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'
import { storedDedupe } from './dedupe.ts'
import type { EndpointRow } from './queries.ts'
import { responsesView, storedAnswerFrom } from './responses.ts'
import type { Endpoint } from './schema.ts'
import { storedStoring } from './storing.ts'

/** The columns of an endpoint for the verification of its captures. */
type StoredVerification = Pick<
  EndpointRow,
  | 'workspaceId'
  | 'provider'
  | 'signingSecret'
  | 'signingSecretSetAt'
  | 'handshakeToken'
  | `signature${'Header' | 'Algorithm' | 'Encoding' | 'Prefix'}`
>

/**
 * An endpoint's settings with its secrets opened: for evaluating and for checking changes, never for answers.
 *
 * @throws Error when the secrets were sealed with another key
 */
export function storedSettings(row: StoredVerification, secrets: SecretBox): VerificationSettings {
  return {
    provider: row.provider,
    signingSecret: row.signingSecret === null ? null : secrets.open(row.signingSecret, row.workspaceId),
    handshakeToken: row.handshakeToken === null ? null : secrets.open(row.handshakeToken, row.workspaceId),
    manual: manualOf(row),
  }
}

/** The part of an endpoint's settings that may be shown: no secrets. */
function storedFacts(row: StoredVerification): VerificationFacts {
  return {
    provider: row.provider,
    manual: manualOf(row),
    secretSet: row.signingSecret !== null,
    secretSetAt: row.signingSecretSetAt,
    handshakeTokenSet: row.handshakeToken !== null,
  }
}

/** The manual scheme of a row. Missing members become the defaults. */
function manualOf(row: StoredVerification): ManualScheme | null {
  if (row.signatureHeader === null) return null
  return {
    header: row.signatureHeader,
    algorithm: row.signatureAlgorithm ?? MANUAL_DEFAULTS.algorithm,
    encoding: row.signatureEncoding ?? MANUAL_DEFAULTS.encoding,
    prefix: row.signaturePrefix ?? MANUAL_DEFAULTS.prefix,
  }
}

export function captureUrlOf(urls: Urls, captureId: string): string {
  return `${urls.captureUrl}/hook/${captureId}`
}

/** The URL of a request: its capture URL, with the path and the query that follow. */
export function requestUrlOf(
  urls: Urls,
  captureId: string,
  { path, queryString }: Pick<CapturedRequest, 'path' | 'queryString'>,
): string {
  return `${captureUrlOf(urls, captureId)}${path}${queryString === null ? '' : `?${queryString}`}`
}

/** Converts a row to the API's shape, without its secrets. */
export function endpointView(
  row: EndpointRow,
  { urls, clock }: Pick<Services, 'urls' | 'clock'>,
): z.input<typeof Endpoint> {
  const until = row.previousCaptureUntil
  return {
    id: row.id,
    name: row.name,
    url: captureUrlOf(urls, row.captureId),
    isActive: row.isActive,
    suspendedByPlan: row.suspendedByPlan,
    createdAt: row.createdAt,
    lastRequestAt: row.lastRequestAt,
    expiresAt: row.expiresAt,
    expired: row.expiresAt !== null && row.expiresAt <= clock.now(),
    storedRequestCount: row.storedRequestCount,
    responseStatusCode: row.responseStatusCode,
    responseContentType: row.responseContentType,
    responseHeaders: JSON.parse(row.responseHeaders),
    responseBody: row.responseBody,
    responses: responsesView(row.responses, row.responsesUsed === null ? {} : JSON.parse(row.responsesUsed)),
    answerFrom: storedAnswerFrom(row.answerFrom),
    provider: row.provider,
    eventIdPath: row.eventIdPath,
    columns: JSON.parse(row.columns),
    dedupe: storedDedupe(row.dedupe),
    rejectUnverified: row.rejectUnverified,
    allowRehearsal: row.allowRehearsal,
    allowCors: row.allowCors,
    allowedSenders: JSON.parse(row.allowedSenders),
    ...storedStoring(row),
    forwardOriginal: row.forwardOriginal,
    encryptBodies: row.encryptBodies,
    originalHours: row.originalHours,
    forwardingEnabled: row.forwardingEnabled,
    forwardUrl: row.forwardUrl,
    forwardSigning: { signed: row.forwardSigningSetAt !== null, setAt: row.forwardSigningSetAt },
    verification: verificationView(storedFacts(row)),
    previousUrlUntil: until !== null && until > clock.now() ? until : null,
  }
}
