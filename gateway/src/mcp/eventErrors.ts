import { ProtocolError } from '@modelcontextprotocol/server'
import { CreelError } from 'creel-client'
import { refusalText } from './mcpApi.ts'

export const EXTENSION = 'io.modelcontextprotocol/events'

/** Codes of the extension: of its drafts, and of clients that declare it. */
const CODES = {
  NotFound: [-32011, -32023],
  Forbidden: [-32012, -32024],
  ResourceExhausted: [-32013, -32025],
  Unsupported: [-32014, -32026],
  CallbackEndpointError: [-32015, -32027],
} as const

const INVALID_PARAMS = -32602

/**
 * A refusal of the API in the protocol's words.
 *
 * @param about `isDeclared`: whether the client declares the extension; `kind`: of things that may be unknown
 * @returns anything else as it is
 */
export function eventError(
  error: unknown,
  { isDeclared, kind = 'event' }: { readonly isDeclared: boolean; readonly kind?: 'event' | 'subscription' },
): unknown {
  if (!(error instanceof CreelError)) return error
  const code = (name: keyof typeof CODES) => CODES[name][isDeclared ? 1 : 0]
  const { code: reason, errors: parts, retryAfterSeconds } = error
  const message = refusalText(error)
  switch (reason) {
    case 'not_found':
      return new ProtocolError(code('NotFound'), message, { kind })
    case 'validation_failed':
    case 'request_invalid':
      return new ProtocolError(INVALID_PARAMS, message, { errors: parts })
    case 'unauthorized':
    case 'forbidden':
    case 'api_access_disabled':
    case 'feature_not_in_plan':
      return new ProtocolError(code('Forbidden'), message, { reason })
    case 'callback_failed':
      return new ProtocolError(code('CallbackEndpointError'), message, {
        reason: /^callback_failed: (\w+):/.exec(message)?.[1] ?? 'connection_refused',
      })
    case 'rate_limited':
    case 'limit_reached':
    case 'unavailable':
      return new ProtocolError(code('ResourceExhausted'), message, {
        limit: reason,
        ...(retryAfterSeconds === null ? {} : { retryAfterMs: retryAfterSeconds * 1000 }),
      })
    default:
      return error
  }
}

/** The refusal of a mode of delivery, or of another feature, that the server does not have. */
export function unsupported(feature: string, value: unknown, isDeclared: boolean): ProtocolError {
  return new ProtocolError(CODES.Unsupported[isDeclared ? 1 : 0], `Unsupported ${feature}.`, {
    feature,
    value,
  })
}

/** The refusal for a subscription that does not exist. */
export function noSubscription(): ProtocolError {
  return new ProtocolError(CODES.NotFound[1], 'No such subscription.', { kind: 'subscription' })
}
