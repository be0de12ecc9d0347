import type { z } from 'zod'
import type { Viewer } from '../api/context.ts'
import { type Between, pageByTime, type TimePlace } from '../api/cursors.ts'
import { notFound } from '../api/errors.ts'
import type { Page } from '../api/pagination.ts'
import type { Services } from '../api/services.ts'
import { countOf, type Db, run, statement, type Trx } from '../platform/db/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { type RequestDetail, readRequest, requestView } from '../requests/index.ts'
import { knownTokens } from '../sessions/index.ts'

/** Live links of a workspace at once. */
export const SHARE_LINKS_MAX = 100

/**
 * Links that have not ended, also of requests in the recycle bin, which a restore shows again. They are listed, can be
 * revoked, and count.
 */
function live(db: Db, { workspaceId, onlyEndpointId, now }: Viewer) {
  const links = db
    .selectFrom('shareLinks as s')
    .innerJoin('requests as r', (on) =>
      on.onRef('r.endpointId', '=', 's.endpointId').onRef('r.id', '=', 's.requestId'),
    )
    .innerJoin('endpoints as e', 'e.id', 's.endpointId')
    .where('s.workspaceId', '=', workspaceId)
    .where('s.expiresAt', '>', now)
    .where('e.deletedAt', 'is', null)
    .where('r.hiddenAt', 'is', null)
  return onlyEndpointId === null ? links : links.where('s.endpointId', '=', onlyEndpointId)
}

const COLUMNS = [
  's.id',
  's.workspaceId',
  's.endpointId',
  's.requestId',
  's.createdBy',
  's.createdAt',
  's.expiresAt',
] as const

/** A page of links, newest first. */
export async function listShareLinks(
  db: Db,
  viewer: Viewer,
  requestId: number | undefined,
  page: Page & Between<TimePlace>,
) {
  const links = live(db, viewer).select(COLUMNS)
  const wanted = requestId === undefined ? links : links.where('s.requestId', '=', requestId)
  return await pageByTime(wanted, ['s.createdAt', 's.id'], page)
}

/** A live link; undefined where there is none for this viewer. */
export async function findShareLink(db: Db, viewer: Viewer, id: string) {
  return await live(db, viewer).where('s.id', '=', id).select(COLUMNS).executeTakeFirst()
}

/** A link as the API shows it. */
export type ShareLinkRow = NonNullable<Awaited<ReturnType<typeof findShareLink>>>

export async function insertShareLink(
  trx: Trx,
  row: ShareLinkRow & { readonly sha256: Buffer },
): Promise<void> {
  await trx.insertInto('shareLinks').values(row).execute()
}

const SWEEP = statement(
  'sweep share links',
  `delete from share_links s
  where s.workspace_id = $1::uuid and (s.expires_at <= $2::timestamptz or not exists (
    select from requests r where r.endpoint_id = s.endpoint_id and r.id = s.request_id))`,
)

/** Deletes the links of a workspace that have expired or whose request is gone, and counts the live ones. */
export async function countAfterSweep(trx: Trx, workspaceId: string, now: Date): Promise<number> {
  await run(trx, SWEEP, [workspaceId, now])
  return await countOf(live(trx, { workspaceId, onlyEndpointId: null, now }))
}

/** Deletes the links of all workspaces that have expired. */
export async function deleteExpiredShareLinks(trx: Trx, now: Date): Promise<void> {
  await trx.deleteFrom('shareLinks').where('expiresAt', '<=', now).execute()
}

/** Deletes the links to requests of an endpoint that is purged. */
export async function deleteShareLinksOf(trx: Trx, endpointId: string): Promise<void> {
  const owner = trx.selectFrom('endpoints').where('id', '=', endpointId).select('workspaceId')
  // By workspace, for its index.
  await trx
    .deleteFrom('shareLinks')
    .where('workspaceId', 'in', owner)
    .where('endpointId', '=', endpointId)
    .execute()
}

export async function deleteShareLink(trx: Trx, id: string): Promise<void> {
  const gone = await trx.deleteFrom('shareLinks').where('id', '=', id).executeTakeFirst()
  if (gone.numDeletedRows === 0n) throw notFound('share link')
}

const OPEN = statement(
  'open share link',
  `select s.workspace_id, s.endpoint_id, s.request_id, s.expires_at, e.name as endpoint_name
  from share_links s
  join endpoints e on e.id = s.endpoint_id and e.deleted_at is null
  where s.sha256 = $1 and s.expires_at > $2::timestamptz`,
)

/** The link with this fingerprint, if it has not expired. */
async function openLink(db: Db, sha256: Buffer, now: Date) {
  const [row] = await run(db, OPEN, [sha256, now])
  return row
}

/** Filters fingerprints to those of links that have not expired. */
async function findLiveShareLinks(db: Db, fingerprints: readonly Buffer[], now: Date): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('shareLinks')
    .select('sha256')
    .where('sha256', 'in', fingerprints)
    .where('expiresAt', '>', now)
    .execute()
  return rows.map(({ sha256 }) => sha256)
}

/** Bytes of a body that a link shows, and characters of one that is shown decoded. A longer body is left out. */
const SHOWN_BODY_BYTES = 262_144

/** A link that its token opens. */
export interface SharedLink {
  readonly workspaceId: string
  readonly endpointName: string
  readonly expiresAt: Date
  /** Reads the request; undefined if it is gone. */
  readonly read: () => Promise<z.input<typeof RequestDetail> | undefined>
}

/** Finds the link of a token; undefined if it is unknown, expired or revoked. */
export async function openShareLink(
  { clock, db, urls }: Pick<Services, 'clock' | 'db' | 'urls'>,
  token: string,
): Promise<SharedLink | undefined> {
  const link = await openLink(db, sha256Of(token), clock.now())
  if (link === undefined) return undefined
  const { endpointId, endpointName, expiresAt, requestId, workspaceId } = link
  return {
    workspaceId,
    endpointName,
    expiresAt,
    async read() {
      const request = await readRequest(db, workspaceId, endpointId, {
        id: requestId,
        bodyBytesMax: SHOWN_BODY_BYTES,
      })
      if (request === undefined || request === null) return undefined
      const view = await requestView({ db, urls, clock }, request)
      const isTooLong = (view.decodedBody?.text?.length ?? 0) > SHOWN_BODY_BYTES
      return isTooLong ? { ...view, decodedBody: null, bodyOmitted: true } : view
    },
  }
}

/** Filters tokens to those of links that have not expired, in one query. */
export async function knownShareLinks(
  services: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  return await knownTokens(services, presented, findLiveShareLinks)
}
