import { randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import { countSlots, takeSlot } from '../api/slots.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import { secretProblem } from '../engine/signing/index.ts'
import { restFor } from '../platform/time/index.ts'
import { type Callback, type Failure, failureOf, messageId, sendMessage } from './callback.ts'
import {
  CHECKS_A_MINUTE,
  FAILED_CHECKS_MAX,
  FAILED_CHECKS_MS,
  FAILED_CHECKS_OF_ALL,
  SLOWED_MS,
} from './declarations.ts'
import { callbackChecks } from './pull.ts'

/** Checks of URL and secret that the schema cannot express. */
export async function callbackIssues(
  { outbound }: Pick<Context, 'outbound'>,
  { url, secret }: { readonly url?: string; readonly secret?: string },
): Promise<InputIssue[]> {
  const path = ['delivery', 'url']
  const issues = url === undefined ? [] : await outbound.checkDestination(url, path)
  if (url !== undefined && issues.length === 0 && !/^https:/i.test(url) && !outbound.isListed(url)) {
    issues.push(issue(path, 'bad_url', 'A callback needs https.'))
  }
  if (secret === undefined) return issues
  // A callback's secret has the prefix, which may be missing elsewhere.
  const isWhole = secret.startsWith('whsec_')
  const problem = isWhole ? secretProblem('standard-webhooks', secret) : 'secret must begin with whsec_.'
  if (problem !== null) issues.push(issue(['delivery', 'secret'], 'bad_format', problem))
  return issues
}

/**
 * Asks a callback to repeat a challenge, which shows that its owner wants the events.
 *
 * @throws DomainError `callback_failed`, and `rate_limited` for a key that has many callbacks checked, or a workspace
 *   whose checks at this host failed
 */
export async function checkCallback(ctx: Context, subscriptionId: string, callback: Callback): Promise<void> {
  // Slots that are never freed are a sliding-window counter.
  await takeSlot(ctx, {
    scope: `callbackCheck:${ctx.callerId}`,
    max: CHECKS_A_MINUTE,
    longestMs: 60_000,
    noun: 'checks of callbacks within a minute',
  })
  const failures = failuresAt(callback.url, ctx.workspace.id)
  await requireFewFailures(ctx, failures)
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
  await countFailure(ctx, failures)
  throw new DomainError('callback_failed', `${reason}: ${WORDS[reason]}`)
}

/**
 * The scopes of failures at a host: `own` of the workspace, and `all`. A host is the same under each of its ports, and
 * with a dot at its end.
 */
function failuresAt(url: string, workspaceId: string) {
  const all = `callbackFailed:${(URL.parse(url)?.hostname ?? '').replace(/\.$/, '')}`
  return { own: `${all}:${workspaceId}`, all }
}

/** Waits where many checks of others failed. */
async function requireFewFailures(ctx: Context, { own, all }: ReturnType<typeof failuresAt>): Promise<void> {
  const [ofWorkspace, ofAll] = await Promise.all([countSlots(ctx, own), countSlots(ctx, all)])
  const areMany = ofAll >= FAILED_CHECKS_OF_ALL
  if (ofWorkspace >= FAILED_CHECKS_MAX || (areMany && ofWorkspace > 0)) {
    const detail = 'Too many checks of callbacks at this host failed. Try again later.'
    throw new DomainError('rate_limited', detail, { retryAfterSeconds: 60 })
  }
  if (areMany) await restFor(SLOWED_MS)
}

/** Slots that are never freed are a sliding-window counter. Concurrent calls may count beyond a bound. */
async function countFailure(ctx: Context, { own, all }: ReturnType<typeof failuresAt>): Promise<void> {
  const counted = { longestMs: FAILED_CHECKS_MS, noun: 'failed checks of callbacks at this host' }
  const bounds = [
    { scope: own, max: FAILED_CHECKS_MAX },
    { scope: all, max: FAILED_CHECKS_OF_ALL },
  ]
  for (const { scope, max } of bounds) {
    if ((await countSlots(ctx, scope)) < max) await takeSlot(ctx, { ...counted, scope, max: 2 * max })
  }
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
