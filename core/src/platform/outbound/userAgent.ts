import type { WireHeader } from '../../engine/message/index.ts'

/** The `User-Agent` of outbound requests. */
export function userAgent(version: string): WireHeader {
  return ['User-Agent', `creel/${version}`]
}
