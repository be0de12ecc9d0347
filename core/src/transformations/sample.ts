import type { z } from 'zod'
import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import { notAllowed, notFound } from '../api/errors.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { type DeliveryFacts, HEADER_NAME } from '../engine/conditions/index.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import {
  contentTypeIn,
  type EvaluatedRequest,
  isBase64,
  NOT_BASE64,
  wireField,
} from '../engine/message/index.ts'
import { findProvider } from '../engine/providers/index.ts'
import { labelOf } from '../engine/verification/index.ts'
import { findContent, storedRequest } from '../requests/index.ts'
import { deliveryFacts } from './facts.ts'
import type { Destination } from './queries.ts'
import type { previewedRequestInput, Sample } from './schema.ts'

/** Request on which rules are tried, with facts of its delivery. */
export interface PreviewRequest {
  readonly request: EvaluatedRequest
  readonly facts: DeliveryFacts
}

/** Placeholder for ids that a sample does not have. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

/** Stands for the endpoint, and the action, of a sample without one. */
const NONE = { id: NO_ID, name: 'Sample', captureId: NO_ID }

/** The chosen request: a sample, or a stored one. */
export type PreviewSource = z.output<z.ZodObject<typeof previewedRequestInput>>

type TakenSource = PreviewSource & { readonly takesTraces?: boolean }

/**
 * Issues of the choice of a request. A member that is absent from `source` was invalid, and its schema reports that.
 */
export function issuesOfSource(source: Accepted<PreviewSource>, hasEndpoint: boolean): InputIssue[] {
  const { sample, requestId } = source
  if (sample !== undefined) return issuesOfSample(sample)
  if (!('sample' in source && 'requestId' in source)) return []
  if (requestId === undefined) {
    const detail = 'A "sample", or the "requestId" of a stored request, is required.'
    return [issue(['sample'], 'required', detail)]
  }
  if (hasEndpoint) return []
  return [{ path: ['endpointId'], code: 'required', detail: '"endpointId" is required with "requestId".' }]
}

function issuesOfSample({ body, bodyIsBinary, headers = {} }: Accepted<Sample>): InputIssue[] {
  const issues: InputIssue[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (HEADER_NAME.test(name) && HEADER_VALUE.test(value)) continue
    const detail = 'A header has a name of letters, digits and hyphens, and a value without line breaks.'
    issues.push({ path: ['sample', 'headers', name], code: 'bad_format', detail })
  }
  if (bodyIsBinary && !(typeof body === 'string' && isBase64(body))) {
    issues.push({ path: ['sample', 'body'], code: 'bad_format', detail: NOT_BASE64 })
  }
  return issues
}

const HEADER_VALUE = /^[^\r\n\0]*$/

/**
 * The request of a preview, with the facts of its delivery that paths may read.
 *
 * @param source `takesTraces`: an oversize trace is taken as it is stored
 * @throws DomainError `not_found` for a request that is not stored, `shredded`, `validation_failed` for an oversize trace
 */
export async function previewRequest(
  ctx: Context,
  source: TakenSource,
  endpoint: EndpointRow | null,
  destination: Destination | null,
): Promise<PreviewRequest> {
  const request = await requestOf(ctx, source, endpoint)
  const id = source.sample === undefined ? (source.requestId ?? 0) : 0
  const delivered = { requestId: id, request, endpoint: endpoint ?? NONE, action: destination ?? NONE }
  return { request, facts: deliveryFacts(ctx.urls, delivered) }
}

async function requestOf(
  ctx: Context,
  { sample, requestId, takesTraces = false }: TakenSource,
  endpoint: EndpointRow | null,
): Promise<EvaluatedRequest> {
  if (sample !== undefined) return sampleRequest(ctx, sample, endpoint)
  if (endpoint === null || requestId === undefined) throw notFound('request')
  const row = await findContent(ctx, endpoint.id, requestId)
  if (row.bodyTruncated && !takesTraces) {
    const detail =
      'The request is an oversize trace: only the beginning of its body was kept, and it is never forwarded.'
    throw notAllowed(['requestId'], detail)
  }
  return storedRequest({ ...row, endpointId: endpoint.id })
}

function sampleRequest(ctx: Context, sample: Sample, endpoint: EndpointRow | null): EvaluatedRequest {
  const headers = Object.entries(sample.headers).map(([name, value]) => wireField({ name, value }))
  const own = contentTypeIn(Object.entries(sample.headers))
  if (own === undefined && sample.contentType !== undefined) {
    headers.unshift(wireField({ name: 'Content-Type', value: sample.contentType }))
  }
  const body = bytesOf(ctx, sample)
  const captured = {
    endpointId: NO_ID,
    receivedAt: ctx.clock.now(),
    method: sample.method,
    path: sample.path,
    queryString: queryStringOf(sample.query),
    headers,
    contentType: own ?? sample.contentType ?? null,
    body,
    sizeBytes: body.length,
    bodyTruncated: false,
    ip: null,
  }
  const provider = findProvider(endpoint?.provider ?? '')
  return { ...captured, label: labelOf(provider, captured), eventId: null, verification: null }
}

/** A sample's body: text as it is, Base64 decoded, any other JSON value in its original spelling. */
function bytesOf(ctx: Context, { body, bodyIsBinary }: Sample): Uint8Array {
  if (body === undefined) return new Uint8Array()
  if (typeof body === 'string') return Buffer.from(body, bodyIsBinary ? 'base64' : 'utf8')
  const spelled = ctx.rawBody?.part(['sample', 'body']) ?? ctx.rawBody?.part(['sample'])
  return Buffer.from(spelled ?? JSON.stringify(body))
}

function queryStringOf(query: Sample['query']): string | null {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    (typeof values === 'string' ? [values] : values).map((value): [string, string] => [name, value]),
  )
  return pairs.length === 0 ? null : new URLSearchParams(pairs).toString()
}
