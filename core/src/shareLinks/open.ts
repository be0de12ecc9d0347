import type { z } from 'zod'
import type { Services } from '../api/services.ts'
import { type RequestDetail, readRequest, requestView } from '../requests/index.ts'
import { knownTokens, tokenFingerprint } from '../sessions/index.ts'
import { findLiveShareLinks, openLink } from './queries.ts'

/** Bytes of a body that a link shows. A longer body is left out. */
const SHOWN_BODY_BYTES = 262_144

/** What a link shows. */
export interface Shared {
  readonly endpointName: string
  readonly expiresAt: Date
  readonly request: z.input<typeof RequestDetail>
}

/** Reads the request of a link; undefined if the link is unknown, expired or revoked, or the request is gone. */
export async function openShareLink(
  { clock, db, urls }: Pick<Services, 'clock' | 'db' | 'urls'>,
  token: string,
): Promise<Shared | undefined> {
  const link = await openLink(db, tokenFingerprint(token), clock.now())
  if (link === undefined) return undefined
  const { endpointId, endpointName, expiresAt, requestId, workspaceId } = link
  const request = await readRequest(db, workspaceId, endpointId, {
    id: requestId,
    bodyBytesMax: SHOWN_BODY_BYTES,
  })
  if (request === undefined || request === null) return undefined
  const view = await requestView(
    { db, urls, clock },
    { id: endpointId, captureId: request.captureId },
    request,
  )
  return { endpointName, expiresAt, request: view }
}

/** Filters tokens to those of links that have not expired, in one query. */
export async function knownShareLinks(
  services: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  return await knownTokens(services, presented, findLiveShareLinks)
}
