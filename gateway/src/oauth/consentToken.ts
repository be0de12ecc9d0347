import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Proof that a consent was asked for in this session, for this request. Only the service and the browser's cookie know
 * the key.
 *
 * @param session the token of the session
 * @param query the request for authorization, as it was sent
 */
export function consentToken(session: string, query: string): string {
  return createHmac('sha256', session).update(`oauth consent\n${query}`).digest('base64url')
}

/** Whether a form carries the proof. */
export function isConsentToken(presented: string, session: string, query: string): boolean {
  const expected = Buffer.from(consentToken(session, query))
  const given = Buffer.from(presented)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
