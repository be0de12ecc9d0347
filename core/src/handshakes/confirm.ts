import { isUtf8 } from 'node:buffer'
import type { Context } from '../api/context.ts'
import { validationFailed } from '../api/errors.ts'
import { afterEffect } from '../api/problem.ts'
import { requireStays } from '../api/seal.ts'
import { recordChange } from '../audit/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { headerValues, storedHeaders, type WireHeader } from '../engine/message/index.ts'
import { userAgent } from '../platform/outbound/index.ts'
import { Turns, WAIT_MS_MAX } from '../platform/turns/index.ts'
import type { RequestRow } from '../requests/index.ts'

/** From the first byte dialled to the last one read. */
const TIMEOUT_MS = 10_000
/** Bytes of the answer that are read and shown. */
export const ANSWER_BYTES_MAX = 4_096
/** Each workspace has four at once in a process; further ones wait. */
const turns = new Turns({ atOnce: 4, wait: { msMax: WAIT_MS_MAX, noun: 'confirmations' } })

/** Result of a confirmation. A call that fails is a result, not an error. */
export interface Confirmation {
  readonly url: string
  /** `response`, or the reason why there is none. */
  readonly outcome: string
  readonly statusCode: number | null
  /** The beginning of the answer as text; null when it is empty or no text. */
  readonly body: string | null
  readonly detail: string | null
  readonly durationMs: number
}

/** A captured handshake that can be confirmed by its callback. */
interface Handshake {
  readonly origin: string
  readonly callback: string
  readonly asksForRate: boolean
}

/** Reads the handshake of a stored request; issues when it is none that has a callback. */
function readHandshake(
  request: Pick<RequestRow, 'method' | 'headerNames' | 'headerValues'>,
): Handshake | { readonly issues: InputIssue[] } {
  const headers = storedHeaders(request)
  const [origin] = headerValues(headers, 'WebHook-Request-Origin')
  const [callback] = headerValues(headers, 'WebHook-Request-Callback')
  if (request.method !== 'OPTIONS' || origin === undefined || callback === undefined) {
    const detail = 'The request is no handshake with a callback: an OPTIONS with WebHook-Request-Callback.'
    return { issues: [{ path: ['requestId'], code: 'not_allowed', detail }] }
  }
  return { origin, callback, asksForRate: headerValues(headers, 'WebHook-Request-Rate').length > 0 }
}

/**
 * Grants a sender of CloudEvents what its handshake asks for: calls the URL that it gave, once, through the address checks of
 * everything that is sent. https only, unless the operator lists the host.
 *
 * @throws DomainError `validation_failed` for a request that is no such handshake and for a URL that may not be called;
 *   LineTooLong when earlier ones of the workspace take too long
 */
export async function confirmHandshake(
  ctx: Context,
  endpoint: EndpointRow,
  request: RequestRow,
): Promise<Confirmation> {
  const handshake = readHandshake(request)
  if ('issues' in handshake) throw validationFailed(handshake.issues)
  const { origin, callback, asksForRate } = handshake
  const issues = await urlIssues(ctx, callback)
  if (issues.length > 0) throw validationFailed(issues)
  const rate: WireHeader = ['WebHook-Allowed-Rate', String(ctx.plan.limits.captureRatePerMinute)]
  const send = () =>
    ctx.outbound.send({
      method: 'GET',
      url: callback,
      headers: [
        userAgent(ctx.version),
        ['WebHook-Allowed-Origin', Buffer.from(origin).toString('latin1')],
        ...(asksForRate ? [rate] : []),
      ],
      body: null,
      totalTimeoutMs: TIMEOUT_MS,
      maxResponseBytes: ANSWER_BYTES_MAX,
      signal: ctx.signal,
    })
  // Before the call as well as after it: what cannot be recorded is not to be done.
  await ctx.db.transaction().execute((trx) => requireStays(ctx, trx, ctx.workspace.id))
  const result = await turns.run(ctx.workspace.id, send, { signal: ctx.signal })
  const { outcome, durationMs } = result
  const answered = result.outcome === 'response' ? result : undefined
  const statusCode = answered?.statusCode ?? null
  const entry = {
    action: 'requests.confirm',
    workspaceId: ctx.workspace.id,
    subject: { type: 'request', id: String(request.id) },
    endpointId: endpoint.id,
    before: {},
    // The rest of the URL is a secret of the sender.
    after: { calledOrigin: new URL(callback).origin, outcome, statusCode },
  } as const
  await afterEffect(() => ctx.db.transaction().execute((trx) => recordChange(trx, ctx, entry)))
  const detail = result.outcome === 'response' ? null : result.detail
  return { url: callback, outcome, statusCode, body: textOf(answered?.body), detail, durationMs }
}

async function urlIssues({ outbound }: Context, url: string): Promise<InputIssue[]> {
  const issues = await outbound.checkDestination(url, ['requestId'])
  if (issues.length > 0 || new URL(url).protocol === 'https:' || outbound.isListed(url)) return issues
  return [{ path: ['requestId'], code: 'not_allowed', detail: 'The callback must be an https URL.' }]
}

function textOf(body: Uint8Array | undefined): string | null {
  if (body === undefined || body.length === 0 || !isUtf8(body)) return null
  return new TextDecoder().decode(body)
}
