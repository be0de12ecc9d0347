import { sql } from 'kysely'
import { budgetClock, SECONDS_LEFT, takeFromWindow } from '../api/callBudget.ts'
import { isSealed, isSealedOf } from '../api/seal.ts'
import { isHere, isLive, liveKeys } from '../keys/index.ts'
import { type Db, type RowsOf, run, type SessionsTable, statement, type Trx } from '../platform/db/index.ts'
import { DAY_MS } from '../platform/time/index.ts'

/** Maximum lifetime of a session after sign-in. */
export const SESSION_DAYS = 30

/** Idle time after which a session ends. */
const IDLE_DAYS = 7

/** Signed-in browsers of a key at once, each of which has a budget and slots of its own. */
const SESSIONS_MAX = 50

/** Lifetime of a sign-in link, which works once. */
export const LINK_MINUTES = 15

/**
 * SQL for sessions that have not ended: by age, by idleness, or with the key that created them.
 *
 * @param now SQL expression of the time
 * @param address SQL expression of the call's address; may be null
 */
const liveSessions = (now: string, address: string) => `
  select s.id, s.workspace_id, w.name as workspace_name, w.plan as plan_key, s.api_key_id, k.name as key_name,
         k.prefix as key_prefix, k.scope as key_scope, k.endpoint_id as key_endpoint_id, k.expires_at as key_expires_at,
         (s.api_key_id is null or ${isHere(address)}) as is_here, ${isSealed('w')} as is_sealed, s.sha256
  from sessions s
  join workspaces w on w.id = s.workspace_id
  left join api_keys k on k.id = s.api_key_id
  where s.expires_at > ${now}::timestamptz and s.seen_at > ${now}::timestamptz - interval '${IDLE_DAYS} days'
    and (s.api_key_id is null or (${isLive(now)}))`

/** `$1` see `aheadMs`, `$2` the call's address, `$3` the cost, `$4` the budget, `$5` the token's SHA-256. */
const TAKE_FROM_BUDGET = statement(
  'take from session budget',
  `with ${budgetClock('$1')}, caller as (${liveSessions('(select at from clock)', '$2')} and s.sha256 = $5),
  taken as (
    insert into session_windows as win (session_id, started_at, call_count)
    ${takeFromWindow({ owner: 'session_id', cost: '$3::int', budget: '$4::int' })}
  ), seen as (
    update sessions s set seen_at = t.started_at from taken t, caller c
    where s.id = c.id and s.seen_at < t.started_at
  )
  select c.id, c.workspace_id, c.workspace_name, c.plan_key, c.api_key_id, c.key_name, c.key_prefix,
         c.key_scope, c.key_endpoint_id, c.key_expires_at, c.is_here, c.is_sealed,
         ${SECONDS_LEFT}, coalesce(t.call_count, $4::int + 1) as call_count
  from clock, caller c
  left join taken t on true
  left join session_windows win on win.session_id = c.id`,
  { notNull: ['secondsLeft', 'callCount'] },
)

/**
 * A live session, with the state of its budget after the call.
 *
 * - `isHere`: whether the key, if there is one, may be used from the call's address.
 * - `secondsLeft`: seconds until the window ends, by the database's clock.
 * - `callCount`: calls in the window. Above the budget: refused, and nothing was taken.
 */
export type SessionRow = RowsOf<typeof TAKE_FROM_BUDGET>

/** Finds a live session by its token's fingerprint and takes `cost` calls from its budget, by the database's clock. */
export async function takeFromSessionBudget(
  db: Db,
  of: {
    sha256: Buffer
    aheadMs: number
    address: string | null
    cost: number
    budget: number
  },
): Promise<SessionRow | undefined> {
  const values = [of.aheadMs, of.address, of.cost, of.budget, of.sha256]
  const [row] = await run(db, TAKE_FROM_BUDGET, values)
  return row
}

const IS_LIVE = statement('is session live', `${liveSessions('$1', '$2')} and s.id = $3::uuid`)

/** Finds a live session without taking anything from its budget. */
export async function findLiveSession(
  db: Db,
  { id, address, now }: { readonly id: string; readonly address: string | null; readonly now: Date },
) {
  const [row] = await run(db, IS_LIVE, [now, address, id])
  return row
}

const LIVE_TOKENS = statement(
  'live session tokens',
  `${liveSessions('$1', 'null')} and s.sha256 = any ($2::bytea[])`,
)

/** Filters token fingerprints to live sessions. */
export async function findLiveTokens(db: Db, fingerprints: readonly Buffer[], now: Date): Promise<Buffer[]> {
  const rows = await run(db, LIVE_TOKENS, [now, fingerprints])
  return rows.map(({ sha256 }) => sha256)
}

/** Digests of those links that can be used. */
export async function findLiveLinks(db: Db, fingerprints: readonly Buffer[], now: Date): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('signInLinks')
    .select('sha256')
    .where('sha256', 'in', fingerprints)
    .where('expiresAt', '>', now)
    .execute()
  return rows.map(({ sha256 }) => sha256)
}

const LIST = statement(
  'list sessions',
  `select s.id, s.api_key_id, l.key_name, s.user_agent, s.created_at, s.seen_at, s.expires_at
  from (${liveSessions('$1', 'null')}) l join sessions s on s.id = l.id
  where l.workspace_id = $2::uuid
  order by s.created_at desc, s.id`,
)

/** A session as its owner sees it. */
export type ListedSession = RowsOf<typeof LIST>

/** The live sessions of a workspace, newest first. */
export async function listSessions(
  db: Db,
  workspaceId: string,
  now: Date,
): Promise<readonly ListedSession[]> {
  return await run(db, LIST, [now, workspaceId])
}

/** Condition for sessions that have expired or are idle. */
const isOver = (now: Date) =>
  sql<boolean>`(expires_at <= ${now} or seen_at <= ${new Date(now.getTime() - IDLE_DAYS * DAY_MS)})`

/** The columns of a new session; only the digest of its token is stored. */
export type NewSession = Omit<SessionsTable, 'seenAt'>

/**
 * Adds the session. Deletes the workspace's expired and idle ones, and the oldest of the same key beyond
 * {@link SESSIONS_MAX}.
 */
export async function insertSession(trx: Trx, row: NewSession): Promise<void> {
  await trx
    .deleteFrom('sessions')
    .where('workspaceId', '=', row.workspaceId)
    .where(isOver(row.createdAt))
    .execute()
  if (row.apiKeyId !== null) await deleteOldest(trx, row.workspaceId, row.apiKeyId)
  await trx
    .insertInto('sessions')
    .values({ ...row, seenAt: row.createdAt })
    .execute()
}

/** Makes room for one more session of a key. */
async function deleteOldest(trx: Trx, workspaceId: string, apiKeyId: string): Promise<void> {
  const surplus = trx
    .selectFrom('sessions')
    .where('workspaceId', '=', workspaceId)
    .where('apiKeyId', '=', apiKeyId)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .offset(SESSIONS_MAX - 1)
    .select('id')
  // A session that another sign-in is about to end is left to it: neither waits for the other.
  const free = trx.selectFrom('sessions').where('id', 'in', surplus).select('id').forUpdate().skipLocked()
  await trx.deleteFrom('sessions').where('id', 'in', free).execute()
}

/** Ends a session of the workspace; false if none has the id. */
export async function deleteSession(trx: Trx, workspaceId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('sessions')
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Deletes a session, and returns whose it was, and whether its workspace is sealed; undefined if there is none. */
export async function deleteSessionOfToken(trx: Trx, sha256: Buffer) {
  return await trx
    .deleteFrom('sessions')
    .where('sha256', '=', sha256)
    .returning((of) => [
      'id',
      'workspaceId',
      isSealedOf('sessions.workspace_id'),
      of.selectFrom('apiKeys').whereRef('apiKeys.id', '=', 'sessions.apiKeyId').select('name').as('keyName'),
    ])
    .executeTakeFirst()
}

/** The identity of a session or a link: the workspace's owner, or one of its keys. */
export interface SignedIn {
  readonly workspaceId: string
  readonly apiKeyId: string | null
}

/** Adds a link, and deletes the workspace's expired ones. */
export async function insertLink(
  trx: Trx,
  row: SignedIn & { readonly sha256: Buffer; readonly expiresAt: Date },
  now: Date,
): Promise<void> {
  await trx
    .deleteFrom('signInLinks')
    .where('workspaceId', '=', row.workspaceId)
    .where('expiresAt', '<=', now)
    .execute()
  await trx.insertInto('signInLinks').values(row).execute()
}

/**
 * Deletes sessions and links that have ended, of all workspaces. Sessions of a key that has expired stay: a later expiry
 * revives it.
 */
export async function deleteEndedSessions(trx: Trx, now: Date): Promise<void> {
  await trx
    .deleteFrom('sessions')
    .where((of) =>
      of.or([
        isOver(now),
        of('apiKeyId', 'in', (keys) =>
          keys.selectFrom('apiKeys').where('revokedAt', 'is not', null).select('id'),
        ),
      ]),
    )
    .execute()
  await trx.deleteFrom('signInLinks').where('expiresAt', '<=', now).execute()
}

/** Consumes a link: of several concurrent calls, one gets its identity. The link of a key that is not live is invalid. */
export async function takeLink(trx: Trx, sha256: Buffer, now: Date): Promise<SignedIn | undefined> {
  return await trx
    .deleteFrom('signInLinks')
    .where('sha256', '=', sha256)
    .where('expiresAt', '>', now)
    .where((of) =>
      of.or([of('apiKeyId', 'is', null), of('apiKeyId', 'in', liveKeys(trx, now).select('k.id'))]),
    )
    .returning(['workspaceId', 'apiKeyId'])
    .executeTakeFirst()
}
