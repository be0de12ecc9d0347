import type { z } from 'zod'
import type { Services, Urls } from '../api/services.ts'
import { verificationView } from '../engine/verification/index.ts'
import { storedDedupe } from './dedupe.ts'
import type { EndpointRow } from './queries.ts'
import { responsesView, storedAnswerFrom } from './responses.ts'
import type { Endpoint } from './schema.ts'
import { storedFacts } from './storedVerification.ts'

/** The capture URL with a capture id. */
export function captureUrlOf(urls: Urls, captureId: string): string {
  return `${urls.captureUrl}/hook/${captureId}`
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
    dedupe: storedDedupe(row.dedupe),
    rejectUnverified: row.rejectUnverified,
    allowRehearsal: row.allowRehearsal,
    allowedSenders: JSON.parse(row.allowedSenders),
    storeRules: JSON.parse(row.storeRules),
    dropHeaders: JSON.parse(row.dropHeaders),
    forwardOriginal: row.forwardOriginal,
    originalHours: row.originalHours,
    forwardingEnabled: row.forwardingEnabled,
    forwardUrl: row.forwardUrl,
    forwardSigning: { signed: row.forwardSigningSetAt !== null, setAt: row.forwardSigningSetAt },
    verification: verificationView(storedFacts(row)),
    previousUrlUntil: until !== null && until > clock.now() ? until : null,
  }
}
