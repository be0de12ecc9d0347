import { sql } from 'kysely'
import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { type Db, type RowsOf, run, statement, type Trx } from '../platform/db/index.ts'
import { sealedMembers } from '../platform/secrets/index.ts'
import { STORED_REQUEST_COLUMNS, shapeOf, visibleRequests } from '../requests/index.ts'
import { type FieldPath, fieldPath } from './filter.ts'
import { isSecretPath } from './occurrence.ts'
import { nameSources, nameUnlisted } from './slugs.ts'

/** Last part of the name of the type that has every request of an endpoint. */
export const ANY = 'any'

/** Labels that are listed as types of their own. Others are strangers' text; `any` has them. */
const LISTABLE_LABEL = /^[A-Za-z0-9][\w.:/-]{0,79}$/

/** Whether a label may be part of the name of an event type. */
function isListable(label: string): boolean {
  return label !== ANY && LISTABLE_LABEL.test(label)
}

/** Parts of the name of an event type; undefined if it has no dot. */
function partsOf(name: string): { readonly slug: string; readonly label: string } | undefined {
  const dot = name.indexOf('.')
  return dot < 0 ? undefined : { slug: name.slice(0, dot), label: name.slice(dot + 1) }
}

/** Endpoints whose types are listed, the busiest first. */
const SOURCES_MAX = 150
/** Labels of one endpoint that are ever listed, and how often each must be among the newest requests. */
const LABELS = { max: 40, newest: 300, atOnce: 20, seen: 3 } as const
/** Fields that events show by default: how many, and in which part of the newest requests. */
const FIELDS = {
  max: 12,
  share: 0.5,
  newest: 20,
  bodyBytes: 65_536,
  refreshSeconds: 86_400,
  atOnce: 10,
} as const

export interface EventSource {
  readonly endpointId: string
  readonly slug: string
  readonly fields: readonly FieldPath[]
}

const LIST = statement(
  'list event sources',
  `select e.id as endpoint_id, e.name, s.slug, s.fields, s.fields_at
  from endpoints e join endpoint_counters c on c.endpoint_id = e.id
  left join event_sources s on s.endpoint_id = e.id
  where e.workspace_id = $1::uuid and e.deleted_at is null and ($2::uuid is null or e.id = $2::uuid)
  order by c.stored_request_count desc, e.id limit ${SOURCES_MAX}`,
)

type SourceRow = RowsOf<typeof LIST>

const FIND = statement(
  'find event source',
  `select e.id as endpoint_id, e.name, s.slug, s.fields, s.fields_at,
    $4::text = '${ANY}' or exists (select from event_labels l where l.endpoint_id = e.id and l.label = $4::text) as is_listed
  from event_sources s join endpoints e on e.id = s.endpoint_id
  where s.workspace_id = $1::uuid and s.slug = $2::text and e.deleted_at is null and ($3::uuid is null or e.id = $3::uuid)`,
)

const FREQUENT = statement(
  'frequent labels',
  `select x.endpoint_id, l.label from unnest($1::uuid[]) as x (endpoint_id) cross join lateral (
    select label from (
      select label from requests r
      where r.endpoint_id = x.endpoint_id and r.deleted_at is null and r.hidden_at is null
      order by r.id desc limit ${LABELS.newest}
    ) n where label is not null group by label having count(*) >= ${LABELS.seen} order by count(*) desc, label limit ${LABELS.atOnce}
  ) l`,
  { notNull: ['label'] },
)

/**
 * Notes labels that are listed from now on. `$1` and `$2` are pairs of endpoint and label; an endpoint keeps at most
 * ${LABELS.max}.
 */
const KEEP_LABELS = statement(
  'keep event labels',
  `insert into event_labels (endpoint_id, label)
  select n.endpoint_id, n.label from (
    select p.endpoint_id, p.label, row_number() over (partition by p.endpoint_id order by p.place) as nth
    from unnest($1::uuid[], $2::text[]) with ordinality as p (endpoint_id, label, place)
    where not exists (select from event_labels l where l.endpoint_id = p.endpoint_id and l.label = p.label)
  ) n
  where n.nth + (select count(*) from event_labels l where l.endpoint_id = n.endpoint_id) <= ${LABELS.max}
  on conflict do nothing`,
)

export interface FoundType {
  readonly source: EventSource
  /** The only label of its events; null: any. */
  readonly label: string | null
}

/**
 * Finds an event type by its name, for this caller.
 *
 * @throws DomainError `not_found`, also for a type of an endpoint that the caller's key is not for
 */
export async function findType(
  ctx: Pick<Context, 'db' | 'workspace' | 'onlyEndpointId'>,
  name: string,
): Promise<FoundType> {
  const parts = partsOf(name)
  if (parts === undefined) throw notFound('event type')
  const values = [ctx.workspace.id, parts.slug, ctx.onlyEndpointId, parts.label]
  const find = async () => (await run(ctx.db, FIND, values))[0]
  let row = await find()
  if (row === undefined && (await nameUnlisted(ctx))) row = await find()
  if (row === undefined || !row.isListed) throw notFound('event type')
  return { source: sourceOf(row, parts.slug), label: parts.label === ANY ? null : parts.label }
}

/**
 * An event type as a subscription keeps it.
 *
 * @param fields default fields of its endpoint, as they are stored
 */
export function keptType(name: string, endpointId: string, fields: string | null): FoundType {
  const { slug, label } = partsOf(name) ?? { slug: '', label: ANY }
  const source = sourceOf({ endpointId, fields }, slug)
  return { source, label: label === ANY ? null : label }
}

/** Lists the sources that the caller may see, the busiest first, with the listed labels of each. */
export async function listSources(
  ctx: Context,
  scan: <Result>(look: (db: Db) => Promise<Result>) => Promise<Result>,
): Promise<{ readonly source: EventSource; readonly labels: readonly string[] }[]> {
  const read = () => run(ctx.db, LIST, [ctx.workspace.id, ctx.onlyEndpointId])
  let rows = await read()
  const named = await nameSources(ctx, rows)
  const learned = await learnFields(ctx, rows)
  if (named || learned) rows = await read()
  const ids = rows.map(({ endpointId }) => endpointId)
  const frequent = await scan((db) => run(db, FREQUENT, [ids]))
  const listable = frequent.filter(({ label }) => isListable(label))
  if (listable.length > 0) {
    const values = [listable.map(({ endpointId }) => endpointId), listable.map(({ label }) => label)]
    await run(ctx.db, KEEP_LABELS, values)
  }
  const kept =
    ids.length === 0
      ? []
      : await ctx.db
          .selectFrom('eventLabels')
          .where('endpointId', 'in', ids)
          .select(['endpointId', 'label'])
          .orderBy('label')
          .execute()
  const labels = Map.groupBy(kept, ({ endpointId }) => endpointId)
  return rows.flatMap((row) =>
    row.slug === null
      ? []
      : [
          {
            source: sourceOf(row, row.slug),
            labels: (labels.get(row.endpointId) ?? []).map(({ label }) => label),
          },
        ],
  )
}

function sourceOf(
  { endpointId, fields }: Pick<SourceRow, 'endpointId' | 'fields'>,
  slug: string,
): EventSource {
  const texts: unknown = fields === null ? [] : JSON.parse(fields)
  const paths = Array.isArray(texts) ? texts.map((text) => fieldPath(String(text))) : []
  return { endpointId, slug, fields: paths.filter((path) => 'path' in path) }
}

/**
 * Learns the default fields of some endpoints from their newest requests: of endpoints without fields, and of those
 * whose fields are a day old. Endpoints that were not looked at for longest come first, since
 * others may have nothing to learn from. Returns whether any were learned.
 */
async function learnFields({ db, clock }: Context, rows: readonly SourceRow[]): Promise<boolean> {
  let learned = false
  const now = clock.now()
  const staleAt = new Date(now.getTime() - FIELDS.refreshSeconds * 1000)
  const stale = rows
    .filter(({ fields, fieldsAt }) => fields === null || fieldsAt === null || fieldsAt < staleAt)
    .sort((one, other) => (one.fieldsAt?.getTime() ?? 0) - (other.fieldsAt?.getTime() ?? 0))
  const without: string[] = []
  for (const { endpointId } of stale.slice(0, FIELDS.atOnce)) {
    const newest = await visibleRequests(db, endpointId)
      .where(sql<boolean>`octet_length(r.body) <= ${FIELDS.bodyBytes}`)
      .select(STORED_REQUEST_COLUMNS.map((name) => `r.${name}` as const))
      .select(sealedMembers('r'))
      .orderBy('r.id', 'desc')
      .limit(FIELDS.newest)
      .execute()
    if (newest.length === 0) {
      without.push(endpointId)
      continue
    }
    const fields = (await shapeOf(newest))
      .filter(({ path, types, share }) => share >= FIELDS.share && isField(path, types))
      .sort((one, other) => other.share - one.share)
      .slice(0, FIELDS.max)
      .map(({ path }) => path)
    await db
      .updateTable('eventSources')
      .set({ fields: JSON.stringify(fields), fieldsAt: now })
      .where('endpointId', '=', endpointId)
      .execute()
    learned = true
  }
  if (without.length > 0 && stale.length > FIELDS.atOnce) {
    const looked = db.updateTable('eventSources').where('endpointId', 'in', without)
    await looked.set({ fieldsAt: now }).execute()
  }
  return learned
}

function isField(path: string, types: readonly string[]): boolean {
  const isScalar = types.every((type) => type !== 'object' && type !== 'array')
  return isScalar && path.startsWith('body.') && !path.includes('[') && !isSecretPath(path)
}

/** The fields that events of an endpoint show by default, as they are stored. */
export async function listedFields(db: Db, endpointId: string): Promise<string | null> {
  const row = await db
    .selectFrom('eventSources')
    .where('endpointId', '=', endpointId)
    .select('fields')
    .executeTakeFirst()
  return row?.fields ?? null
}

/** Deletes the default fields of an endpoint, which are learned again from what is stored. */
export async function forgetFields(trx: Trx, endpointId: string): Promise<void> {
  await trx
    .updateTable('eventSources')
    .set({ fields: null, fieldsAt: null })
    .where('endpointId', '=', endpointId)
    .execute()
}

/** The labels of an endpoint that its event types list. There are at most some hundred. */
export async function listedLabels(db: Db, endpointId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('eventLabels')
    .where('endpointId', '=', endpointId)
    .select('label')
    .execute()
  return rows.map(({ label }) => label)
}

export async function forgetLabels(trx: Trx, endpointId: string, labels: readonly string[]): Promise<void> {
  if (labels.length === 0) return
  await trx
    .deleteFrom('eventLabels')
    .where('endpointId', '=', endpointId)
    .where('label', 'in', labels)
    .execute()
}
