import { randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { countSlots, takeSlot } from '../api/slots.ts'
import type { InputIssue } from '../engine/issues.ts'
import { secretProblem } from '../engine/signing/index.ts'
import { CHECKS_A_MINUTE, FAILED_CHECKS_MAX, FAILED_CHECKS_MS } from './bounds.ts'
import { type Callback, type Failure, failureOf, messageId, sendMessage } from './callback.ts'
import { callbackChecks } from './metrics.ts'

/** Checks of URL and secret that the schema cannot express. */
export async function callbackIssues(
  { outbound }: Pick<Context, 'outbound'>,
  { url, secret }: { readonly url: string; readonly secret: string },
): Promise<InputIssue[]> {
  const path = ['delivery', 'url']
  const issues = await outbound.checkDestination(url, path)
  if (issues.length === 0 && !/^https:/i.test(url) && !outbound.isListed(url)) {
    issues.push({ path, code: 'bad_url', detail: 'A callback needs https.' })
  }
  const problem = secretProblem('standard-webhooks', secret)
  if (problem !== null) issues.push({ path: ['delivery', 'secret'], code: 'bad_format', detail: problem })
  return issues
}

/**
 * Asks a callback to repeat a challenge, which shows that its owner wants the events.
 *
 * @throws DomainError `callback_failed`, and `rate_limited` for a key that has many callbacks checked, or a host at
 *   which many checks failed
 */
export async function checkCallback(ctx: Context, subscriptionId: string, callback: Callback): Promise<void> {
  const host = URL.parse(callback.url)?.host ?? ''
  const failed = `callbackFailed:${host}`
  // Slots that are never freed: they count what happened in a time.
  await takeSlot(ctx, {
    scope: `callbackCheck:${ctx.callerId}`,
    max: CHECKS_A_MINUTE,
    longestMs: 60_000,
    noun: 'checks of callbacks within a minute',
  })
  if ((await countSlots(ctx, failed)) >= FAILED_CHECKS_MAX) {
    const detail = 'Too many checks of callbacks at this host failed. Try again later.'
    throw new DomainError('rate_limited', detail, { retryAfterSeconds: 60 })
  }
  const challenge = randomBytes(24).toString('base64url')
  const result = await sendMessage(ctx, callback, {
    subscriptionId,
    id: messageId('verification'),
    body: Buffer.from(JSON.stringify({ type: 'verification', challenge })),
    hops: 0,
  })
  const reason =
    failureOf(result) ??
    (result.outcome === 'response' && isEcho(result.body, challenge) ? null : 'challenge_failed')
  callbackChecks.inc({ result: reason ?? 'passed' })
  if (reason === null) return
  await takeSlot(ctx, {
    scope: failed,
    max: FAILED_CHECKS_MAX,
    longestMs: FAILED_CHECKS_MS,
    noun: 'failed checks of callbacks at this host',
  })
  throw new DomainError('callback_failed', `${reason}: ${WORDS[reason]}`)
}

const WORDS: Readonly<Record<Failure, string>> = {
  connection_refused: 'The callback could not be reached.',
  timeout: 'The callback did not answer in time.',
  tls_error: 'The certificate of the callback is not trusted.',
  http_4xx: 'The callback refused the challenge.',
  http_5xx: 'The callback failed.',
  challenge_failed: 'The callback did not repeat the challenge.',
}

const Echo = z.looseObject({ challenge: z.string() })

function isEcho(body: Uint8Array, challenge: string): boolean {
  try {
    const echo = Buffer.from(Echo.parse(JSON.parse(Buffer.from(body).toString())).challenge)
    const wanted = Buffer.from(challenge)
    return echo.length === wanted.length && timingSafeEqual(echo, wanted)
  } catch {
    return false
  }
}
