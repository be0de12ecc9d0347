import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Text of a body is searched up to here. */
const SEARCHED_BODY_BYTES = 262_144

type Text = RawBuilder<string>
type Found = RawBuilder<SqlBool>

/**
 * Substring search without case over path, query, header values and text body of `requests as r`.
 *
 * @param q holds no NUL
 */
export function containsText(q: string): Found {
  return sql`(
    ${isIn(sql`r.path`, q)}
    or ${isIn(sql`coalesce(r.query_string, '')`, q)}
    or ${isInHeaders(q)}
    or case
      when r.body_is_binary then false
      when r.body_truncated or octet_length(r.body) > ${SEARCHED_BODY_BYTES}
        then ${isInBody(sql`body_text_prefix(r.body, ${SEARCHED_BODY_BYTES})`, q)}
      else ${isInBody(sql`convert_from(r.body, 'UTF8')`, q)}
    end)`
}

/** The collation is named: what `convert_from` returns has that of its encoding's name, "C", whose `lower` knows ASCII only. */
function isIn(text: Text, q: string): Found {
  return sql`strpos(lower(${text} collate "default"), lower(${q})) > 0`
}

/**
 * Header values are bytes: they are compared as latin1, with the searched text once as it is and once as its UTF-8 bytes
 * in each case, so both spellings of a value are found. In ASCII those are all one.
 */
function isInHeaders(q: string): Found {
  const utf8 = [q, lowerCase(q), upperCase(q)].map((text) => Buffer.from(text, 'utf8').toString('latin1'))
  const spellings = isAscii(q) ? [q] : [...new Set([q, ...utf8])]
  const found = spellings.map((spelling) => isIn(sql`convert_from(r.header_values, 'LATIN1')`, spelling))
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

/** Letters beyond ASCII whose lower case is one of ASCII, or begins with it: the Kelvin sign, and the dotted capital I. */
const INTO_ASCII = [
  { letter: 'k', from: '\u212a' },
  { letter: 'i', from: '\u0130' },
] as const

/**
 * The same as `isIn`, in half the time: lower case by Unicode is what a search spends most on, and ASCII's is cheap. Text
 * in ASCII holds it unless one of the two letters above is in the body; text beyond ASCII is in no body of ASCII alone.
 */
function isInBody(body: Text, q: string): Found {
  if (isAscii(q)) {
    const wanted = q.toLowerCase()
    const inAscii = sql`strpos(lower(${body} collate "C"), ${wanted}) > 0`
    const beyond = INTO_ASCII.filter(({ letter }) => wanted.includes(letter)).map(
      ({ from }) => sql`(position(${Buffer.from(from)}::bytea in r.body) > 0 and ${isIn(body, q)})`,
    )
    return sql`(${sql.join([inAscii, ...beyond], sql` or `)})`
  }
  if (INTO_ASCII.some(({ from }) => q.includes(from))) return isIn(body, q)
  return sql`(length(${body}) < octet_length(r.body) and ${isIn(body, q)})`
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant.
  return /^[\x00-\x7f]*$/.test(text)
}
