import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Services } from '../api/services.ts'
import { originHeaders } from '../deliveries/index.ts'
import { signatureFields } from '../engine/signing/index.ts'
import { type SendResult, userAgent } from '../platform/outbound/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'
import { ANSWER_BYTES_MAX, SEND_MS } from './declarations.ts'

/** Reasons for a failed attempt. */
export const FAILURES = [
  'connection_refused',
  'timeout',
  'tls_error',
  'http_4xx',
  'http_5xx',
  'challenge_failed',
] as const
export type Failure = (typeof FAILURES)[number]

const Sealed = z.object({
  url: z.string(),
  secret: z.string(),
  previous: z.object({ secret: z.string(), until: z.number() }).nullable(),
})

/** Destination of the events of a subscription. Its URL is a capability, so it is stored sealed, as its secrets are. */
export type Callback = Readonly<z.output<typeof Sealed>>

/** A callback as a subscription stores it. */
export function sealCallback(box: SecretBox, callback: Callback, workspaceId: string): Buffer {
  return box.seal(JSON.stringify(callback), workspaceId)
}

/** @throws Error when no key of this process sealed it */
export function openCallback(box: SecretBox, sealed: Uint8Array, workspaceId: string): Callback {
  return Sealed.parse(JSON.parse(box.open(sealed, workspaceId)))
}

export interface Message {
  readonly subscriptionId: string
  /** The same on every attempt. */
  readonly id: string
  readonly body: Uint8Array
  /** Forwards that the captured request has passed through. */
  readonly hops: number
}

/** Id of a message that is no event. */
export function messageId(kind: string): string {
  return `msg_${kind}_${randomBytes(9).toString('hex')}`
}

/**
 * Sends a message once, signed as of now by every secret in force. Follows no redirect. Never throws.
 *
 * @param signal cuts the send off
 */
export async function sendMessage(
  { outbound, clock, secrets, version }: Pick<Services, 'outbound' | 'clock' | 'secrets' | 'version'>,
  { url, secret, previous }: Callback,
  { subscriptionId, id, body, hops }: Message,
  signal?: AbortSignal,
): Promise<SendResult> {
  const at = clock.now()
  const isChanging = previous !== null && previous.until > at.getTime()
  const inForce = isChanging ? [secret, previous.secret] : [secret]
  return await outbound.send({
    method: 'POST',
    url,
    headers: [
      ['content-type', 'application/json'],
      userAgent(version),
      ['x-mcp-subscription-id', subscriptionId],
      ...signatureFields({ scheme: 'standard-webhooks', secrets: inForce }, { id, at, body }),
      ...originHeaders(secrets, hops),
    ],
    body,
    totalTimeoutMs: SEND_MS,
    maxResponseBytes: ANSWER_BYTES_MAX,
    signal,
  })
}

/** The reason why an attempt failed; null when it was answered with 2xx. */
export function failureOf(result: SendResult): Failure | null {
  switch (result.outcome) {
    case 'response':
      if (result.statusCode >= 200 && result.statusCode < 300) return null
      return result.statusCode >= 500 ? 'http_5xx' : 'http_4xx'
    case 'timeout':
      return 'timeout'
    case 'tls':
      return 'tls_error'
    default:
      return 'connection_refused'
  }
}
