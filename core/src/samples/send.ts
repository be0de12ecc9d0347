import type { Context } from '../api/context.ts'
import { DomainError, notAllowed, notFound, validationFailed } from '../api/errors.ts'
import { captureUrlOf, type EndpointRow, storedSettings } from '../endpoints/index.ts'
import { parsePath } from '../engine/conditions/index.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import type { CapturedRequest, WireHeader } from '../engine/message/index.ts'
import { eventNamed, SAMPLES, samplesOf } from './catalog.ts'
import { filled, filledText, type ProviderSamples, type SampleEvent } from './sample.ts'
import { SET_MAX } from './schema.ts'
import { contentType, setAt, signSample } from './sign.ts'

/** `Retry-After` while nothing can be stored. */
const UNAVAILABLE_SECONDS = 2

export interface SampleOrder {
  readonly provider: string
  readonly event: string | undefined
  readonly set: Readonly<Record<string, unknown>>
  readonly badSignature: boolean
}

/**
 * Issues of an order that the schema accepted.
 *
 * @returns empty when it can be sent
 */
export function checkOrder({ provider, event, set = {} }: Partial<SampleOrder>): InputIssue[] {
  const issues: InputIssue[] = []
  const samples = provider === undefined ? undefined : samplesOf(provider)
  if (provider !== undefined && samples === undefined) {
    const known = SAMPLES.map(({ provider: slug }) => slug).join(', ')
    const detail = `There are no samples of "${provider}", but of ${known}.`
    issues.push(issue(['provider'], 'unknown_value', detail))
  }
  if (samples !== undefined && eventNamed(samples, event) === undefined) {
    const known = samples.events.map((one) => one.event).join(', ')
    issues.push(issue(['event'], 'unknown_value', `The samples of ${samples.provider} are ${known}.`))
  }
  if (Object.keys(set).length > SET_MAX) {
    issues.push({ path: ['set'], code: 'too_many', detail: `A sample sets at most ${SET_MAX} members.` })
  }
  for (const path of Object.keys(set)) {
    const problem = problemOf(path)
    if (problem !== undefined) issues.push({ path: ['set', path], code: 'bad_path', detail: problem })
  }
  return issues
}

function problemOf(text: string): string | undefined {
  const parsed = parsePath(text, { every: false, deliveryFacts: false })
  if ('problem' in parsed) return parsed.problem.reason
  const isMember = parsed.path.root === 'body' && parsed.path.segments.length > 0
  return isMember ? undefined : 'A sample sets members of its body: write it like body.data.amount.'
}

/**
 * Creates a sample, signs it with the endpoint's own secret, and captures it like any request.
 *
 * @returns the id of the captured request
 * @throws DomainError `validation_failed` for a path through a text or a number, `not_found` when the endpoint takes no
 *   captures, `rate_limited` over its capture rate, `unavailable` while nothing can be stored
 */
export async function sendSample(ctx: Context, endpoint: EndpointRow, order: SampleOrder) {
  const samples = samplesOf(order.provider)
  const sample = samples === undefined ? undefined : eventNamed(samples, order.event)
  if (samples === undefined || sample === undefined) throw validationFailed(checkOrder(order))
  const { request, isSigned } = sampleRequest(ctx, endpoint, { samples, sample, order })
  const result = await ctx.handIn(request, endpoint.captureId)
  switch (result.state) {
    case 'stored':
      return {
        requestId: result.id,
        provider: samples.provider,
        event: sample.event,
        url: captureUrlOf(ctx.urls, endpoint.captureId),
        signed: isSigned,
      }
    case 'gone':
      throw notFound('endpoint that takes captures')
    case 'limited':
      throw new DomainError('rate_limited', 'The endpoint takes no more captures in this minute.', {
        retryAfterSeconds: result.retryAfterSeconds,
      })
    case 'unverified':
    case 'foreign':
      // Without a wrong secret it is another provider's, or of one that alone can sign.
      throw notAllowed(
        [order.badSignature ? 'badSignature' : 'provider'],
        'The endpoint takes verified captures only, so this sample was refused and counted.',
      )
    case 'unavailable':
      throw new DomainError('unavailable', 'Captures cannot be stored now. Try again in a moment.', {
        retryAfterSeconds: UNAVAILABLE_SECONDS,
      })
  }
}

function sampleRequest(
  { clock, urls, secrets }: Context,
  endpoint: EndpointRow,
  { samples, sample, order }: { samples: ProviderSamples; sample: SampleEvent; order: SampleOrder },
): { request: CapturedRequest; isSigned: boolean } {
  const now = clock.now()
  const isForm = samples.isForm === true
  const body = filled(sample.body, now)
  setMembers(body, order.set)
  const url = captureUrlOf(urls, endpoint.captureId)
  const own: WireHeader[] = [
    ['Host', new URL(url).host],
    ['User-Agent', 'creel-sample/1'],
    ['Accept', '*/*'],
    ['Content-Type', contentType({ isForm })],
    ...Object.entries(filled(sample.headers ?? {}, now)).map(
      ([name, value]): WireHeader => [name, String(value)],
    ),
  ]
  const signed = signSample(
    { body, isForm, headers: own },
    {
      provider: samples.provider,
      settings: storedSettings(endpoint, secrets),
      url,
      now,
      id: String(filledText('msg_{token:27}', now)),
      isBad: order.badSignature,
    },
  )
  const bytes = Buffer.from(signed.body)
  return {
    isSigned: signed.isSigned,
    request: {
      endpointId: endpoint.id,
      receivedAt: now,
      method: 'POST',
      path: '',
      queryString: null,
      headers: [...signed.headers, ['Content-Length', String(bytes.length)]],
      contentType: contentType({ isForm }),
      body: bytes,
      sizeBytes: bytes.length,
      bodyTruncated: false,
      ip: null,
    },
  }
}

function setMembers(body: object, set: SampleOrder['set']): void {
  const issues: InputIssue[] = []
  for (const [text, value] of Object.entries(set)) {
    const parsed = parsePath(text, { every: false, deliveryFacts: false })
    if ('problem' in parsed || parsed.path.root !== 'body') continue
    if (setAt(body, parsed.path.segments, value)) continue
    const detail = `The sample has nothing at ${text} that can be set: the path leads through a text or a number.`
    issues.push(issue(['set', text], 'bad_path', detail))
  }
  if (issues.length > 0) throw validationFailed(issues)
}
