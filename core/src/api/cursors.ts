import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { z } from 'zod'
import { countOf } from '../platform/db/index.ts'
import { type Page, type Rows, window } from './pagination.ts'
import { optional } from './values.ts'

export type IdPlace = number

export interface TimePlace {
  readonly at: Date
  /** As text: a uuid or an int64. */
  readonly id: string
}

/** Range of a page, exclusive at both ends. */
export interface Between<Place> {
  /** Only older items, which are further down the list. */
  readonly before?: Place | undefined
  /** Only newer items. */
  readonly after?: Place | undefined
}

const ID = /^(?:0|[1-9]\d{0,15})$/
/** A word after an id: what the list had learned there. */
const NOTE = /^[\w.-]{1,16}$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MILLISECONDS = /^\d{1,15}$/
/** The last moment that both PostgreSQL's timestamps and ours support: the end of the year 9999. */
const LAST_MOMENT = 253_402_300_799_999

/** Lists with cursors. A place of one is a place in another, too, but a wrong one: so each cursor names its list. */
type CursorList =
  | 'alertChannels'
  | 'alertDeliveries'
  | 'audit'
  | 'deliveries'
  | 'endpoints'
  | 'erasures'
  | 'incidents'
  | 'reconciliations'
  | 'recycleBin'
  | 'replays'
  | 'requests'
  | 'shareLinks'
  | 'subscriptions'
  | 'watchdogs'

/** The name is behind the padding, where decoders end: earlier versions take such a cursor. Theirs have no name. */
const encode = (list: CursorList, text: string) =>
  `${Buffer.from(text, 'latin1').toString('base64url')}=${list}`

/** The cursor of a place in a list by id; opaque to callers. It may bring a note back to a list that reads them. */
export const idCursor = (list: CursorList, id: IdPlace, note?: string): string =>
  encode(list, note === undefined ? String(id) : `${id} ${note}`)

/** The cursor of a place in a list by time; opaque to callers. */
export const timeCursor = (list: CursorList, { at, id }: TimePlace): string =>
  encode(list, `${at.getTime()} ${id}`)

/** The cursors of rows in a list of the newest first. */
export const createdCursor =
  (list: CursorList) =>
  ({ createdAt, id }: { readonly createdAt: Date; readonly id: string }): string =>
    timeCursor(list, { at: createdAt, id })

function cursor<Place>(list: CursorList, placeOf: (text: string) => Place | undefined) {
  return z
    .string()
    .max(100)
    .transform((text, context) => {
      const [encoded = '', named] = text.split('=')
      const isOfList = !named || named === list
      const place = isOfList ? placeOf(Buffer.from(encoded, 'base64url').toString('latin1')) : undefined
      if (place !== undefined) return place
      context.addIssue({
        code: 'custom',
        params: { code: 'bad_format' },
        message: 'This is not a cursor of this list. Use `next` or `previous` of one of its pages.',
      })
      return z.NEVER
    })
}

/** A place in a list by id, with the note of its cursor. Callers can write any note. */
export interface NotedPlace {
  readonly id: IdPlace
  readonly note: string | undefined
}

const ofNotedId = (list: CursorList) =>
  cursor(list, (text): NotedPlace | undefined => {
    const [id = '', note, ...rest] = text.split(' ')
    const isNoted = rest.length === 0 && (note === undefined || NOTE.test(note))
    return isNoted && ID.test(id) && Number.isSafeInteger(Number(id)) ? { id: Number(id), note } : undefined
  })

const ofId = (list: CursorList) => ofNotedId(list).transform(({ id }): IdPlace => id)

const ofTime = (list: CursorList, isId: RegExp) =>
  cursor(list, (text): TimePlace | undefined => {
    const [at = '', id = '', ...rest] = text.split(' ')
    const isPlace = MILLISECONDS.test(at) && Number(at) <= LAST_MOMENT && isId.test(id) && rest.length === 0
    return isPlace ? { at: new Date(Number(at)), id } : undefined
  })

function cursorInput<Schema extends z.ZodType>(schema: Schema) {
  return {
    before: optional(schema).describe(
      'Cursor, `next` of a page: only what follows that page. Costs the same at any depth',
    ),
    after: optional(schema).describe('Cursor, `previous` of a page: only what is newer than that page'),
  }
}

/** `before` and `after` of a list that is ordered by int64 ids. */
export const idCursorInput = (list: CursorList) => cursorInput(ofId(list))

/** The same with the notes of cursors. */
export const notedCursorInput = (list: CursorList) => cursorInput(ofNotedId(list))

/** `before` and `after` of a list that is ordered by a time and uuids. */
export const timeCursorInput = (list: CursorList) => cursorInput(ofTime(list, UUID))

/** `before` and `after` of a list that is ordered by a time and int64 ids. */
export const timeAndIdCursorInput = (list: CursorList) => cursorInput(ofTime(list, ID))

/**
 * One page of a query's rows, and how many there are. Rows are in the order of the keys, descending: a time and an id.
 */
export async function pageByTime<DB, Tables extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Tables, Row>,
  [at, id]: readonly [string, string],
  page: Page & Between<TimePlace>,
) {
  const range = between(
    sql`(${sql.ref(at)}, ${sql.ref(id)})`,
    page,
    (place) => sql`(${place.at}, ${place.id})`,
  )
  return await pageOf(query, query.where(range).orderBy(sql.ref(at), 'desc'), id, page)
}

/** The same for rows in the order of an id alone. */
export async function pageById<DB, Tables extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, Tables, Row>,
  id: string,
  page: Page & Between<IdPlace>,
) {
  return await pageOf(query, query.where(isBetweenIds(id, page)), id, page)
}

async function pageOf<DB, Tables extends keyof DB, Row>(
  all: SelectQueryBuilder<DB, Tables, Row>,
  query: SelectQueryBuilder<DB, Tables, Row>,
  id: string,
  page: Page,
) {
  const { limit, offset } = window(page)
  const rows = await query.orderBy(sql.ref(id), 'desc').limit(limit).offset(offset).execute()
  return { rows, totalCount: await countOf(all.clearSelect()) } satisfies Rows<unknown>
}

/** Condition for a page's range in a list ordered by id, descending. */
export function isBetweenIds(id: string, page: Between<IdPlace>) {
  return between(sql.ref(id), page, (place) => sql`${place}::bigint`)
}

function between<Place>(
  key: Expression<unknown>,
  { before, after }: Between<Place>,
  written: (place: Place) => Expression<unknown>,
) {
  const parts = [
    ...(before === undefined ? [] : [sql`${key} < ${written(before)}`]),
    ...(after === undefined ? [] : [sql`${key} > ${written(after)}`]),
  ]
  return parts.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(parts, sql` and `)}`
}
