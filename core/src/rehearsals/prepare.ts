import type { Services } from '../api/services.ts'
import { refusalOf, rehearsalHeader } from '../deliveries/index.ts'
import { captureUrlOf, type EndpointRow, storedSettings } from '../endpoints/index.ts'
import {
  contentTypeIn,
  type EvaluatedRequest,
  forwardableHeaders,
  isNamed,
  shownFields,
  type WireHeader,
} from '../engine/message/index.ts'
import { SIGNATURE_HEADERS } from '../engine/providers/index.ts'
import { resigned } from '../engine/verification/index.ts'
import { isShredded } from '../platform/secrets/index.ts'
import { storedRequest } from '../requests/index.ts'
import { applyRules, deliveryFacts, ruleTurns } from '../transformations/index.ts'
import { editRules, type ReplayOptions, urlTarget } from './options.ts'
import type { findCaptured, ItemRow } from './queries.ts'

/** A request as it goes out, before the action that it may go through; or the reason why it does not. */
export type Prepared = { readonly request: EvaluatedRequest } | { readonly error: string }

export interface Preparing {
  readonly id: string
  readonly options: ReplayOptions
  readonly endpoint: EndpointRow
}

/** Prepares a send: applies the edit, signs it, and spoils the signature if that is its fault. */
export async function prepare(
  services: Pick<Services, 'secrets' | 'clock' | 'urls'>,
  { id, options, endpoint }: Preparing,
  { fault, requestId }: Pick<ItemRow, 'fault' | 'requestId'>,
  row: Awaited<ReturnType<typeof findCaptured>>,
): Promise<Prepared> {
  if (row === undefined) return { error: 'request_gone' }
  if (isShredded(row)) return { error: 'shredded' }
  const captured = storedRequest(row)
  const refusal = refusalOf(captured, urlTarget(options), services.secrets)
  if (refusal !== null) return { error: refusal }
  const now = services.clock.now()
  const edited = await edit(services, { id, options, endpoint }, { captured, requestId, now })
  if ('error' in edited) return edited
  const { request } = edited
  const isBad = fault === 'bad-signature'
  if (options.sign === 'provider') {
    const url = 'url' in options.to ? options.to.url : captureUrlOf(services.urls, endpoint.captureId)
    const settings = storedSettings(endpoint, services.secrets)
    const signed = resigned(request, { provider: endpoint.provider, settings, url, now, isBad })
    if ('problem' in signed) return { error: `unsigned: ${signed.problem}` }
    return { request: { ...request, headers: signed.headers } }
  }
  if (!isBad || options.sign === 'creel') return { request }
  const spoiled = request.headers.map((field) => spoiledSignature(field))
  if (spoiled.every((field, at) => field === request.headers[at]))
    return { error: 'unsigned: the request has no signature to spoil' }
  return { request: { ...request, headers: spoiled } }
}

async function edit(
  { urls, secrets }: Pick<Services, 'secrets' | 'urls'>,
  { id, options, endpoint }: Preparing,
  { captured, requestId, now }: { captured: EvaluatedRequest; requestId: number; now: Date },
): Promise<Prepared> {
  const rules = editRules(options)
  if (rules.length === 0) return { request: captured }
  const { output, error } = await ruleTurns.run(endpoint.workspaceId, id, () =>
    applyRules(rules, {
      request: captured,
      now,
      secret: () => {
        const { signingSecret } = storedSettings(endpoint, secrets)
        return signingSecret === null ? null : Buffer.from(signingSecret)
      },
      facts: deliveryFacts(urls, { requestId, request: captured, endpoint, action: { id, name: 'replay' } }),
    }),
  )
  if (output === null) return { error: error ?? 'rule_fault' }
  return {
    request: {
      ...captured,
      headers: output.headers,
      body: output.body,
      sizeBytes: output.body.length,
      contentType: contentTypeIn(output.headers) ?? null,
    },
  }
}

/** The field with its last letter or digit changed, if it is a signature. */
function spoiledSignature(field: WireHeader): WireHeader {
  const [name, value] = field
  if (![...SIGNATURE_HEADERS].some((known) => isNamed(name, known))) return field
  const at = value.search(/[a-z0-9][^a-z0-9]*$/i)
  if (at < 0) return field
  const other = value[at] === '0' ? '1' : '0'
  return [name, value.slice(0, at) + other + value.slice(at + 1)]
}

/** A prepared send in the API's shape. */
export function outgoingView(
  replayId: string,
  item: Pick<ItemRow, 'position' | 'requestId' | 'fault' | 'copy' | 'dueMs'>,
  prepared: Prepared,
) {
  const request = 'request' in prepared ? prepared.request : undefined
  const headers: readonly WireHeader[] =
    request === undefined
      ? []
      : [
          ...forwardableHeaders(request.headers, new Set()),
          ['creel-request-id', String(item.requestId)],
          rehearsalHeader(replayId),
        ]
  return {
    ...item,
    method: request?.method ?? 'POST',
    path: request?.path ?? '',
    query: request?.queryString ?? null,
    headers: shownFields(headers),
    body: Buffer.from(request?.body ?? []).toString('base64'),
    error: 'error' in prepared ? prepared.error : null,
  }
}
