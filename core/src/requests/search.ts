import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { INTO_ASCII, isAscii, type Shortcut } from './searchShortcut.ts'

/** Octets of a body that are searched for a text. */
export const SEARCHED_BODY_BYTES = 262_144

type Text = RawBuilder<string>
type Bytes = RawBuilder<Buffer>
type Found = RawBuilder<SqlBool>

/**
 * Substring search without case over path, query, header values and text body of `requests as r`.
 *
 * @param q holds no NUL
 * @param shortcut to `q`: changes what a search takes, not what it finds
 */
export function containsText(q: string, shortcut?: Shortcut): Found {
  const headers = sql<Buffer>`r.header_values`
  const text = sql<Buffer>`substring(r.body from 1 for ${SEARCHED_BODY_BYTES})`
  const matches = (bytes: Bytes) => (shortcut?.rules === 'in' ? holds(bytes, shortcut) : sql`false`)
  const mayMatch = (bytes: Bytes) => (shortcut?.rules === 'out' ? holds(bytes, shortcut) : sql`true`)
  return sql`(
    ${matches(headers)}
    or (not r.body_is_binary and ${matches(text)})
    or ${isIn(sql`r.path`, q)}
    or ${isIn(sql`coalesce(r.query_string, '')`, q)}
    or (${mayMatch(headers)} and ${isInHeaders(q)})
    or case
      when r.body_is_binary or not ${mayMatch(text)} then false
      when r.body_truncated or octet_length(r.body) > ${SEARCHED_BODY_BYTES}
        then ${isInBody(sql`body_text_prefix(r.body, ${SEARCHED_BODY_BYTES})`, q)}
      else ${isInBody(sql`convert_from(r.body, 'UTF8')`, q)}
    end)`
}

function holds(bytes: Bytes, { spellings }: Shortcut): Found {
  const patterns = spellings.map((spelling) => likeAnywhere(spelling))
  return sql`${bytes} like any (array[${sql.join(patterns)}]::bytea[])`
}

function likeAnywhere(spelling: Buffer): Buffer {
  const escaped = spelling.toString('latin1').replaceAll(/[\\%_]/g, '\\$&')
  return Buffer.from(`%${escaped}%`, 'latin1')
}

/** The collation is named: what `convert_from` returns has that of its encoding's name, "C", whose `lower` knows ASCII only. */
function isIn(text: Text, q: string): Found {
  return sql`strpos(lower(${text} collate "default"), lower(${q})) > 0`
}

/**
 * Header values are bytes: they are compared as latin1, with the searched text once as it is and once as its UTF-8 bytes
 * in each case, so both spellings of a value are found. In ASCII those are all one, and no letter of latin1 beyond it has one
 * in it for its lower case.
 */
function isInHeaders(q: string): Found {
  const values = sql<string>`convert_from(r.header_values, 'LATIN1')`
  if (isAscii(q)) return isInAscii(values, q)
  const utf8 = [q, lowerCase(q), upperCase(q)].map((text) => Buffer.from(text, 'utf8').toString('latin1'))
  const found = [...new Set([q, ...utf8])].map((spelling) => isIn(values, spelling))
  return sql`(${sql.join(found, sql` or `)})`
}

/** One letter for one, as Postgres has it. */
function lowerCase(text: string): string {
  return [...text].map((letter) => (letter === '\u0130' ? 'i' : letter.toLowerCase())).join('')
}

/** The same upwards, where it is the way back: the capital of `ß` is not `SS` here. */
function upperCase(text: string): string {
  const capitals = [...text].map((letter) => {
    const capital = letter.toUpperCase()
    return lowerCase(capital) === lowerCase(letter) ? capital : letter
  })
  return capitals.join('')
}

/**
 * The same as `isIn`, in half the time: lower case by Unicode is what a search spends most on, and ASCII's is cheap. Text
 * in ASCII holds it unless one of the two letters above is in the body; text beyond ASCII is in no body of ASCII alone.
 */
function isInBody(body: Text, q: string): Found {
  if (isAscii(q)) {
    const wanted = q.toLowerCase()
    const beyond = INTO_ASCII.filter(({ letter }) => wanted.includes(letter)).map(
      ({ from }) => sql`(position(${Buffer.from(from)}::bytea in r.body) > 0 and ${isIn(body, q)})`,
    )
    return sql`(${sql.join([isInAscii(body, q), ...beyond], sql` or `)})`
  }
  if (INTO_ASCII.some(({ from }) => q.includes(from))) return isIn(body, q)
  return sql`(length(${body}) < octet_length(r.body) and ${isIn(body, q)})`
}

/** @param q of ASCII */
function isInAscii(text: Text, q: string): Found {
  return sql`strpos(lower(${text} collate "C"), ${q.toLowerCase()}) > 0`
}
