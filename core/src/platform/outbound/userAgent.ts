import type { WireHeader } from '../../engine/message/index.ts'

/** How we introduce ourselves to whom we call. */
export function userAgent(version: string): WireHeader {
  return ['User-Agent', `creel/${version}`]
}
