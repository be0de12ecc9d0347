import type { Services, Urls } from '../api/services.ts'
import { forwardableHeaders, isNamed, targetUrl, type WireHeader } from '../engine/message/index.ts'
import { signatureFields } from '../engine/signing/index.ts'
import { uuidV5 } from '../engine/uuidV5.ts'
import { type SendResult, userAgent } from '../platform/outbound/index.ts'
import {
  applyRules,
  deliveryFacts,
  NO_RULES,
  type RulesApplied,
  ruleTurns,
  type SetResult,
} from '../transformations/index.ts'
import { type Attempt, type AttemptResult, type SentMessage, TIMEOUT_SECONDS, UNSENDABLE } from './attempt.ts'
import { withHiddenAuth } from './auth.ts'
import { creelHeaders, rehearsalHeader } from './forwardHeaders.ts'
import { sendWithAuth } from './sendWithAuth.ts'
import { GONE } from './states.ts'

const NOTHING_WRITTEN: ReadonlySet<string> = new Set()

export type SendServices = Pick<
  Services,
  'outbound' | 'clock' | 'urls' | 'version' | 'secrets' | 'accessTokens'
>

/** A forward that is ready to be sent, and the result of its rules. */
interface Forward {
  readonly message: Omit<SentMessage, 'bodyIsCaptured'>
  readonly shaped: SetResult | null
}

/**
 * Makes one attempt: applies the rules, builds the forward, signs it, sends it. It records nothing and never throws:
 * failures are results.
 *
 * The forward has the captured method, and the captured bytes unless a rule changed them. The sender's `User-Agent` is
 * passed on; ours is added only if there is none. If a rule faults, nothing is sent: the rule might have redacted it.
 *
 * @param ready called when the forward is built; the send waits for it
 */
export async function sendAttempt(
  services: SendServices,
  attempt: Attempt,
  signal?: AbortSignal,
  ready: () => Promise<void> = async () => {},
): Promise<AttemptResult> {
  const { clock, outbound } = services
  if (attempt.refusal !== null) return notSent(attempt.refusal, clock.now())
  const forward = await forwardOf(services, attempt)
  if ('faulted' in forward) {
    const { error, applied, ends } = forward.faulted
    return { ...notSent(error ?? 'rule_fault', clock.now()), rules: applied, ruleEnds: ends }
  }
  const { message, shaped } = forward
  await ready()
  const { auth, tls, policy } = attempt.action
  const totalTimeoutMs = (policy.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000
  const request = { ...message, totalTimeoutMs, signal, tls }
  const result =
    auth === null
      ? await outbound.send(request)
      : await sendWithAuth(services, attempt.workspaceId, auth, request)
  const rules = { rules: shaped?.applied ?? NO_RULES, ruleEnds: shaped?.ends ?? [] }
  if ('outcome' in result && result.outcome === 'unsendable')
    return { ...notSent(`${UNSENDABLE}: ${result.detail}`, clock.now()), ...rules }
  if ('failure' in result) {
    const { failure, durationMs } = result
    return { ...notSent(`auth: ${failure}`, clock.now()), durationMs, ...rules }
  }
  return {
    error: errorOf(result),
    sent: sentMessage(attempt, { ...message, headers: result.sentHeaders }),
    received: result.outcome === 'response' ? result : null,
    finishedAt: clock.now(),
    durationMs: result.durationMs,
    ...rules,
  }
}

/**
 * Builds the message of an attempt without sending it. The result is the same at any time, while the action and its
 * rules are unchanged.
 *
 * @returns null for an attempt that sends nothing
 */
export async function messageOf(
  services: SendServices,
  attempt: Attempt,
): Promise<{ readonly sent: SentMessage; readonly rules: RulesApplied } | null> {
  if (attempt.refusal !== null) return null
  const forward = await forwardOf(services, attempt)
  if ('faulted' in forward) return null
  const { message, shaped } = forward
  const headers = services.outbound.fieldsOf(message)
  return { sent: sentMessage(attempt, { ...message, headers }), rules: shaped?.applied ?? NO_RULES }
}

function sentMessage(attempt: Attempt, message: Forward['message']): SentMessage {
  // An edited request has a body of its own.
  const bodyIsCaptured = message.body === attempt.request.body && attempt.trigger !== 'edited'
  return { ...message, bodyIsCaptured }
}

async function forwardOf(
  { urls, version, secrets }: SendServices,
  attempt: Attempt,
): Promise<Forward | { readonly faulted: SetResult }> {
  const { request, action } = attempt
  const shaped =
    attempt.rules.length === 0
      ? null
      : await ruleTurns.run(attempt.workspaceId, action.id, () => shapedByRules(attempt, urls))
  if (shaped !== null && shaped.output === null) return { faulted: shaped }
  const body = shaped?.output?.body ?? request.body
  const written = shaped?.output?.writtenHeaders ?? NOTHING_WRITTEN
  const captured = shaped?.output?.headers ?? request.headers
  const id = deliveryUuid(attempt.requestId, action.id)
  const signature = signatureFields(action.signing, { id, at: attempt.startedAt, body })
  const own: readonly WireHeader[] = [
    ...creelHeaders(secrets, attempt, id),
    ...(attempt.rehearsalId === undefined ? [] : [rehearsalHeader(attempt.rehearsalId)]),
    ...signature,
  ]
  // Drops the sender's signature of the same scheme: it does not sign the message that we send.
  const replaced = new Set(signature.map(([name]) => name).filter((name) => !written.has(name)))
  const passedOn = forwardableHeaders(captured, written).filter(([name]) => !replaced.has(name.toLowerCase()))
  const hasUserAgent = passedOn.some(([name]) => isNamed(name, 'user-agent'))
  const added = [
    ...(hasUserAgent ? [] : [userAgent(version)]),
    ...(written.size === 0 ? own : own.filter(([name]) => !written.has(name.toLowerCase()))),
  ]
  const headers: readonly WireHeader[] = [...passedOn, ...added]
  return {
    message: {
      method: request.method,
      url: targetUrl(action, request),
      headers: action.auth === null ? headers : withHiddenAuth(headers, action.auth),
      own: added,
      body,
    },
    shaped,
  }
}

function shapedByRules(attempt: Attempt, urls: Urls): SetResult {
  const { request, action } = attempt
  return applyRules(attempt.rules, {
    request,
    now: attempt.startedAt,
    secret: () => {
      const [newest] = action.signing.secrets
      return newest === undefined ? null : Buffer.from(newest)
    },
    facts: deliveryFacts(urls, attempt),
  })
}

/** The result of an attempt that ended before anything was sent. */
function notSent(error: string, now: Date): AttemptResult {
  return { error, sent: null, received: null, finishedAt: now, durationMs: 0, rules: NO_RULES, ruleEnds: [] }
}

/** Null for a 2xx, else a stable code, with details after a colon. */
function errorOf(result: SendResult): string | null {
  if (result.outcome !== 'response') {
    return `${result.outcome === 'aborted' ? 'interrupted' : result.outcome}: ${result.detail}`
  }
  const { statusCode } = result
  if (statusCode >= 200 && statusCode <= 299) return null
  if (statusCode === GONE) return 'gone'
  if (statusCode >= 300 && statusCode <= 399) return `redirect: ${statusCode} is not followed`
  return `http_${statusCode}`
}

/** Namespace of our version-5 ids. It is random and must never change: receivers deduplicate by these ids. */
const NAMESPACE = Buffer.from('5f0b3c1e9a6d4b7a8e21c4d07f93ab56', 'hex')

/**
 * The id of a request's delivery through an action. It is a version-5 UUID over the two, and so the same on every
 * attempt and every replay.
 */
export function deliveryUuid(requestId: number, actionId: string): string {
  return uuidV5(NAMESPACE, `${requestId}/${actionId}`)
}
