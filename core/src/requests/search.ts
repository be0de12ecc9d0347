import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { INTO_ASCII, isAscii, type Shortcut } from './searchShortcut.ts'

/** Octets of a body, from its start, that a text search covers. */
export const SEARCHED_BODY_BYTES = 262_144

type Text = RawBuilder<string>
type Bytes = RawBuilder<Buffer>
type Found = RawBuilder<SqlBool>

/**
 * SQL for a substring search without case over path, query, header values and text body of `requests as r`. A body that
 * arrived encoded is searched as its decoded text.
 *
 * @param q text without NUL
 * @param shortcut shortcut to `q`: it changes the cost of the search, not its result
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
    or (r.decoded_text is not null and ${isIn(sql`r.decoded_text`, q)})
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

/** Names the collation, because results of `convert_from` have "C", whose `lower` changes ASCII only. */
function isIn(text: Text, q: string): Found {
  return sql`strpos(lower(${text} collate "default"), lower(${q})) > 0`
}

/**
 * Header values are bytes. They are compared as latin1: with the searched text itself, and with its UTF-8 bytes in
 * lower and upper case, so that both spellings of a value are found. For ASCII all of these are the same, and no other
 * latin1 letter has an ASCII letter as its lower case.
 */
function isInHeaders(q: string): Found {
  const values = sql<string>`convert_from(r.header_values, 'LATIN1')`
  if (isAscii(q)) return isInAscii(values, q)
  const utf8 = [q, lowerCase(q), upperCase(q)].map((text) => Buffer.from(text, 'utf8').toString('latin1'))
  const found = [...new Set([q, ...utf8])].map((spelling) => isIn(values, spelling))
  return sql`(${sql.join(found, sql` or `)})`
}

/** Lower case with one letter for each letter, as PostgreSQL does it. */
function lowerCase(text: string): string {
  return [...text].map((letter) => (letter === '\u0130' ? 'i' : letter.toLowerCase())).join('')
}

/** Upper case of letters whose lower case leads back to them: `ß` does not become `SS`. */
function upperCase(text: string): string {
  const capitals = [...text].map((letter) => {
    const capital = letter.toUpperCase()
    return lowerCase(capital) === lowerCase(letter) ? capital : letter
  })
  return capitals.join('')
}

/**
 * The same result as `isIn` in half the time: lower case by Unicode takes most of a search, and that of ASCII is cheap.
 * An ASCII text is compared by ASCII, and by Unicode only if the body has a letter of {@link INTO_ASCII}. Other text is
 * looked for only in bodies that are not all ASCII.
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

/** @param q ASCII text */
function isInAscii(text: Text, q: string): Found {
  return sql`strpos(lower(${text} collate "C"), ${q.toLowerCase()}) > 0`
}
