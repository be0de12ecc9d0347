import { randomBytes } from 'node:crypto'
import type { Services } from '../api/services.ts'
import { type CellPlace, keyHint } from '../cells/index.ts'
import type { KeyKind } from '../engine/words/index.ts'
import { sha256Of } from '../platform/secrets/index.ts'
import { presentableKeys } from './queries.ts'

/** Prefix of the keys of each kind, by which secret scanners can find them. */
const KEY_PREFIXES: Readonly<Record<KeyKind, string>> = { key: 'creel_live_', oauth: 'creel_oauth_' }

/** Random characters of a key that are displayed. */
const SHOWN_CHARACTERS = 6

/** A new API key; only the prefix and the digest are stored. */
export interface NewKey {
  /** The whole key: shown once, stored nowhere. */
  readonly key: string
  /** Its first characters, safe to display. */
  readonly prefix: string
  readonly sha256: Buffer
}

/** A new key with 192 bits of randomness. It names its cell, if there are cells. */
export function newKey(kind: KeyKind, cell: CellPlace | null): NewKey {
  const key = KEY_PREFIXES[kind] + keyHint(cell) + randomText()
  return { key, prefix: key.slice(0, KEY_PREFIXES[kind].length + SHOWN_CHARACTERS), sha256: sha256Of(key) }
}

/** 32 letters and digits with 192 bits of randomness. */
export function randomText(): string {
  return randomBytes(24).toString('base64url').replaceAll('-', 'A').replaceAll('_', 'B')
}

/** Longer than any key. */
const KEY_CHARACTERS_MAX = 200

/** Whether a text has the form of a key. Others are refused without a query. */
export function isKeyShaped(text: string): boolean {
  return (
    Object.values(KEY_PREFIXES).some((prefix) => text.startsWith(prefix)) && text.length <= KEY_CHARACTERS_MAX
  )
}

/**
 * Filters presented keys to the valid ones, in one query, without taking anything from their budgets. Used for
 * throttled callers, which must not cause a query each.
 *
 * @param presented as clients sent them
 * @returns the keys that are valid; an agent's token ends by itself, too
 */
export async function knownKeys(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  presented: ReadonlySet<string>,
): Promise<Set<string>> {
  const byFingerprint = new Map(
    [...presented].filter(isKeyShaped).map((key) => [sha256Of(key).toString('hex'), key]),
  )
  if (byFingerprint.size === 0) return new Set()
  const rows = await presentableKeys(db, clock.now())
    .select('sha256')
    .where(
      'sha256',
      'in',
      [...byFingerprint.keys()].map((hex) => Buffer.from(hex, 'hex')),
    )
    .execute()
  const known = new Set<string>()
  for (const { sha256 } of rows) {
    const key = byFingerprint.get(sha256.toString('hex'))
    if (key !== undefined) known.add(key)
  }
  return known
}
