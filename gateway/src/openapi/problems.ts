import { ERRORS, type ErrorCode, type Route, type Stream } from '@creel/core'
import type { JsonObject } from './schemas.ts'

/** Codes that every route may answer. */
const COMMON_CODES: readonly ErrorCode[] = [
  'unauthorized',
  'api_access_disabled',
  'forbidden',
  'rate_limited',
  'internal_error',
  'unavailable',
]

/** Every code that a route may answer: its own, those of all routes, and those that its shape implies. */
function codesOf(route: Route | Stream): ReadonlySet<ErrorCode> {
  const codes: ErrorCode[] = [...COMMON_CODES, ...(route.errors ?? [])]
  const pathNames = new Set([...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
  if (pathNames.size > 0) codes.push('not_found')
  // A malformed id in a path answers like an unknown one; other invalid members are named.
  if (Object.keys(route.input.shape).some((name) => !pathNames.has(name))) codes.push('validation_failed')
  if (route.method !== 'GET' && route.method !== 'DELETE') codes.push('request_invalid')
  return new Set(codes)
}

export function problemResponses(route: Route | Stream): JsonObject {
  const byStatus = Map.groupBy(codesOf(route), (code) => ERRORS[code].status)
  const responses = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => [status, response(codes)])
  return Object.fromEntries(responses)
}

function response(codes: readonly ErrorCode[]): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
    ...(codes.includes('rate_limited') || codes.includes('unavailable')
      ? { headers: { 'Retry-After': RETRY_AFTER } }
      : {}),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

const RETRY_AFTER = {
  description: 'Seconds after which a retry is served',
  schema: { type: 'integer', minimum: 1, maximum: 60 },
}

const ITEM = {
  pointer: '#/name',
  parameter: null,
  code: 'too_long',
  detail: 'name must be at most 100 characters long.',
}

/** `components/examples`: an example of each code that any of the routes may answer. */
export function problemExamples(routes: readonly (Route | Stream)[]): JsonObject {
  const codes = new Set(routes.flatMap((route) => [...codesOf(route)]))
  return Object.fromEntries([...codes].sort().map((code) => [code, example(code)]))
}

function example(code: ErrorCode): JsonObject {
  const { status, title, meaning } = ERRORS[code]
  return {
    summary: meaning,
    value: {
      type: 'about:blank',
      title,
      status,
      code,
      detail: meaning,
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      ...(code === 'validation_failed' ? { errors: [ITEM] } : {}),
    },
  }
}
