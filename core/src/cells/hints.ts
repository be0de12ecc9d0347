import { randomUUID } from 'node:crypto'
import type { CellPlace } from './cell.ts'

/** Position of the version in a uuid; the three hexadecimal digits after it are free in version 8 (RFC 9562). */
const VERSION_AT = 14
const HINT_DIGITS = 3

/**
 * A new random id. In an installation with cells it is a UUIDv8 with the number of the cell and 110 random bits, so that
 * a gateway finds the cell without a look-up.
 */
export function newId(cell: CellPlace | null): string {
  const id = randomUUID()
  if (cell === null) return id
  const number = cell.number.toString(16).padStart(HINT_DIGITS, '0')
  return `${id.slice(0, VERSION_AT)}8${number}${id.slice(VERSION_AT + 1 + HINT_DIGITS)}`
}

/** The number of the cell that an id names; null if it names none. Only a hint: a workspace may have moved. */
export function cellOfId(id: string): number | null {
  if (id[VERSION_AT] !== '8') return null
  const number = Number.parseInt(id.slice(VERSION_AT + 1, VERSION_AT + 1 + HINT_DIGITS), 16)
  return Number.isNaN(number) ? null : number
}

/** Random characters of a key. */
const KEY_CHARACTERS = 32
/** Characters before them that name the cell, in base 36. */
const KEY_HINT_CHARACTERS = 3

/** The characters of a new key that name its cell; none in an installation without cells. */
export function keyHint(cell: CellPlace | null): string {
  return cell === null ? '' : cell.number.toString(36).padStart(KEY_HINT_CHARACTERS, '0')
}

/** The number of the cell that a key names; null if it names none. */
export function cellOfKey(key: string): number | null {
  const secret = key.slice(key.lastIndexOf('_') + 1)
  if (secret.length !== KEY_HINT_CHARACTERS + KEY_CHARACTERS) return null
  const number = Number.parseInt(secret.slice(0, KEY_HINT_CHARACTERS), 36)
  return Number.isNaN(number) ? null : number
}
