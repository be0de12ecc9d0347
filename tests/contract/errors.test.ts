import { describe, expect, test } from 'bun:test'
import { ERRORS } from '@creel/core'

/** The codes of version 1.0 of the API. They never change; more may be added. */
const FIRST_ERRORS: Readonly<Record<string, number>> = {
  unauthorized: 401,
  api_access_disabled: 403,
  feature_not_in_plan: 403,
  not_found: 404,
  validation_failed: 400,
  forwarding_disabled: 400,
  action_inactive: 400,
  request_invalid: 400,
  rate_limited: 429,
  concurrent_change: 409,
  limit_reached: 409,
  no_destination: 409,
  internal_error: 500,
}

/** Codes that were added since. */
const LATER_ERRORS: Readonly<Record<string, number>> = {
  forbidden: 403,
  unavailable: 503,
  method_not_allowed: 405,
  callback_failed: 400,
  original_gone: 409,
  shredded: 409,
}

describe('error codes', () => {
  test('of the first version are there, with their statuses', () => {
    const statuses = Object.entries(ERRORS).map(([code, { status }]) => [code, status] as const)
    expect(Object.fromEntries<number>(statuses)).toMatchObject(FIRST_ERRORS)
  })

  test('that were added later are there, with their statuses, and no others', () => {
    const statuses = Object.entries(ERRORS).map(([code, { status }]) => [code, status] as const)
    expect(Object.fromEntries<number>(statuses)).toEqual({ ...FIRST_ERRORS, ...LATER_ERRORS })
  })

  test('carry the title of their status (RFC 9457 §4.2.1)', () => {
    const titles: Readonly<Record<number, string>> = {
      400: 'Bad Request',
      401: 'Unauthorized',
      403: 'Forbidden',
      404: 'Not Found',
      405: 'Method Not Allowed',
      409: 'Conflict',
      429: 'Too Many Requests',
      500: 'Internal Server Error',
      503: 'Service Unavailable',
    }
    for (const { status, title } of Object.values(ERRORS))
      expect<string | undefined>(title).toBe(titles[status])
  })

  test('are documented, one section each', async () => {
    const document = await Bun.file(new URL('../../docs/errors.md', import.meta.url)).text()
    const sections = [...document.matchAll(/^## `(\w+)`/gm)].map((match) => match[1] ?? '')
    expect(sections.sort()).toEqual(Object.keys(ERRORS).sort())
  })

  test('are listed together, each with its status and its remedy', async () => {
    const document = await Bun.file(new URL('../../docs/errors.md', import.meta.url)).text()
    for (const [code, { status, remedy }] of Object.entries(ERRORS)) {
      expect(document).toContain(`| [\`${code}\`](#${code}) | ${status} | ${remedy} |\n`)
    }
  })

  test('that were added later are explained on the page about the API', async () => {
    const document = await Bun.file(new URL('../../docs/api.md', import.meta.url)).text()
    for (const [code, status] of Object.entries(LATER_ERRORS)) {
      expect(document).toMatch(new RegExp(`^\\| \`${code}\` \\| ${status} \\| .+ \\| .+ \\|$`, 'm'))
    }
  })
})
