import type { Services } from '../api/services.ts'
import type { WireHeader } from '../engine/message/index.ts'
import type { TokenResult } from '../platform/accessTokens/index.ts'
import type { OutboundRequest, Response, SendResult } from '../platform/outbound/index.ts'
import { within } from '../platform/time/index.ts'
import { authValue, clientOf, type ForwardAuth } from './auth.ts'

/**
 * Sends a message with its credentials. They are hidden in the sent fields and in the answer of the result. For an
 * OAuth client a token is fetched first if none is cached, and once more when the receiver answers 401.
 *
 * @param request its headers are those of {@link withHiddenAuth}. Its time limit includes the fetch of a token, and its
 *   `tls` does not secure the connections to the token endpoint
 * @returns `failure` says why no token was obtained, and that nothing was sent
 */
export async function sendWithAuth(
  services: Pick<Services, 'outbound' | 'accessTokens'>,
  workspaceId: string,
  auth: ForwardAuth,
  request: OutboundRequest & Required<Pick<OutboundRequest, 'totalTimeoutMs'>>,
): Promise<SendResult | { readonly failure: string; readonly durationMs: number }> {
  const { outbound, accessTokens } = services
  const startedAt = performance.now()
  const durationMs = () => Math.round(performance.now() - startedAt)
  const leftMs = () => request.totalTimeoutMs - (performance.now() - startedAt)

  async function send(token: string | null): Promise<SendResult> {
    const { value, secrets } = authValue(auth, token)
    const headers = revealed(request.headers, value)
    const result = await outbound.send({ ...request, headers, totalTimeoutMs: Math.max(1, leftMs()) })
    const sentHeaders = outbound.fieldsOf(request)
    const told = result.outcome === 'response' ? hiding(result, secrets) : result
    return { ...told, sentHeaders, durationMs: durationMs() }
  }

  const client = clientOf(auth)
  if (client === null) return await send(null)
  const tokenOf = async (refused?: string): Promise<TokenResult> =>
    (await within(accessTokens.get(workspaceId, client, refused), leftMs())) ?? {
      failure: `the token endpoint did not answer within ${request.totalTimeoutMs} ms`,
    }
  const first = await tokenOf()
  if ('failure' in first) return { ...first, durationMs: durationMs() }
  const result = await send(first.token)
  if (result.outcome !== 'response' || result.statusCode !== 401) return result
  const second = await tokenOf(first.token)
  // Without another token the receiver's 401 is the result.
  return 'failure' in second || second.token === first.token ? result : await send(second.token)
}

/** The fields with the credentials in the last one, where {@link withHiddenAuth} put a placeholder. */
function revealed(headers: readonly WireHeader[], value: string): readonly WireHeader[] {
  return headers.map((field, index) => (index === headers.length - 1 ? [field[0], value] : field))
}

function hiding<Result extends Response>(result: Result, secrets: readonly string[]): Result {
  const headers = result.headers.map(
    ([name, value]): WireHeader => [
      name,
      withoutSecrets(Buffer.from(value, 'latin1'), secrets).toString('latin1'),
    ],
  )
  return { ...result, headers, body: withoutSecrets(result.body, secrets) }
}

/** Shorter texts are not hidden: they occur in answers by chance, and no secret is that short. */
const SECRET_BYTES_MIN = 6
const HIDDEN = Buffer.from('•••')

/**
 * Replaces each secret in the bytes of an answer by `•••`. A receiver may repeat what it was sent.
 *
 * @param secrets a secret of less than 6 bytes is not replaced
 * @returns the same bytes when they contain no secret
 */
function withoutSecrets(bytes: Uint8Array, secrets: readonly string[]): Buffer {
  let hidden = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  for (const secret of secrets) {
    const sought = Buffer.from(secret)
    if (sought.length < SECRET_BYTES_MIN) continue
    const parts: Buffer[] = []
    let from = 0
    for (let at = hidden.indexOf(sought); at >= 0; at = hidden.indexOf(sought, from)) {
      parts.push(hidden.subarray(from, at), HIDDEN)
      from = at + sought.length
    }
    if (parts.length > 0) hidden = Buffer.concat([...parts, hidden.subarray(from)])
  }
  return hidden
}
