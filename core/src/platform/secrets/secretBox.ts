import { createHash, createHmac } from 'node:crypto'
import type { Db } from '../db/index.ts'
import { openBytes, sealBytes } from './gcm.ts'

/** Encrypts secrets at rest that must be decrypted later: signing secrets, handshake tokens, credentials. */
export interface SecretBox {
  /**
   * Seals with the newest key.
   *
   * @param owner the workspace of the secret; it cannot be opened for another one
   */
  seal(text: string, owner: string): Buffer
  /**
   * Opens a sealed value. @throws Error when no key of this process sealed it, it was altered, or it is another owner's
   */
  open(sealed: Uint8Array, owner: string): string
  /** Whether a value is sealed as {@link SecretBox.seal} would now: with the newest key, for its owner. */
  isCurrent(sealed: Uint8Array): boolean
  /** 32 hex digits that only a holder of the newest key can make. They are the same in every process with that key. */
  mark(purpose: string): string
  /** Whether it is the mark of any key of this process. During a key change other processes use another key. */
  knowsMark(purpose: string, mark: string): boolean
}

const KEY_ID_BYTES = 4
/** The format of 0.1.0, without key id and owner. */
const FORMAT_BARE = 1
const FORMAT = 2

interface Key {
  readonly id: Buffer
  readonly bytes: Uint8Array
}

/** A key with its id: a few bytes that identify the key and reveal nothing of it. */
function keyOf(bytes: Uint8Array): Key {
  if (bytes.length !== 32) throw new Error('A secret key must be 32 bytes.')
  const id = createHash('sha256').update('creel key id').update(bytes).digest().subarray(0, KEY_ID_BYTES)
  return { id, bytes }
}

/**
 * AES-256-GCM. A sealed value consists of one format byte, the key's id, the nonce, the tag and the ciphertext; the
 * owner is authenticated with it. Values without key id, from older versions, are opened, too.
 *
 * @param keys each exactly 32 bytes, the newest first; the newest seals, all of them open
 */
export function createSecretBox(keys: readonly [Uint8Array, ...Uint8Array[]]): SecretBox {
  const known = keys.map(keyOf)
  const [newest] = keys
  const { id: newestId } = keyOf(newest)
  const markOf = (key: Uint8Array, purpose: string) =>
    createHmac('sha256', key).update(`creel ${purpose}`).digest('hex').slice(0, 32)
  /** Marks by purpose, of which the program has a few. They are kept since every forward carries one. */
  const marks = new Map<string, string>()
  return {
    seal(text, owner) {
      const sealed = sealBytes(newest, Buffer.from(text), Buffer.from(owner))
      return Buffer.concat([Buffer.of(FORMAT), newestId, sealed])
    },
    open(sealed, owner) {
      if (sealed[0] === FORMAT_BARE) return openBare(known, sealed.subarray(1))
      if (sealed[0] !== FORMAT) throw new Error('The sealed value has an unknown format.')
      const id = sealed.subarray(1, 1 + KEY_ID_BYTES)
      const key = known.find((one) => one.id.equals(id))
      if (key === undefined)
        throw new Error('The value was sealed with a key that this process does not have.')
      return openBytes(key.bytes, sealed.subarray(1 + KEY_ID_BYTES), Buffer.from(owner)).toString()
    },
    isCurrent: (sealed) => sealed[0] === FORMAT && newestId.equals(sealed.subarray(1, 1 + KEY_ID_BYTES)),
    mark(purpose) {
      const mark = marks.get(purpose) ?? markOf(newest, purpose)
      marks.set(purpose, mark)
      return mark
    },
    // The comparison need not be in constant time: a forged mark only gets the forger's own request refused.
    knowsMark: (purpose, mark) => keys.some((key) => markOf(key, purpose) === mark),
  }
}

/** Opens a value without a key id by trying each key. */
function openBare(keys: readonly Key[], rest: Uint8Array): string {
  for (const { bytes } of keys) {
    try {
      return openBytes(bytes, rest).toString()
    } catch {
      // Sealed with another key, or altered. The next key is tried.
    }
  }
  throw new Error('No key of this process opens the value.')
}

const NAME = 'secret_key_sample'
const SAMPLE = 'creel'
const OWNER = 'installation'

/** This process lacks the key of the database. The message is for the operator. */
export class WrongSecretKey extends Error {}

/**
 * Checks that this process has the key with which the stored secrets were sealed. The first process stores a sealed
 * sample in `installation`; every later one must be able to open it.
 *
 * @throws WrongSecretKey
 */
export async function checkSecretKey(db: Db, secrets: SecretBox): Promise<void> {
  await db
    .insertInto('installation')
    .values({ name: NAME, value: secrets.seal(SAMPLE, OWNER) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', NAME)
    .executeTakeFirstOrThrow()
  try {
    secrets.open(row.value, OWNER)
  } catch {
    throw new WrongSecretKey(
      'CREEL_SECRET_KEY is not the key that this database was set up with; the stored secrets cannot be read with it. After a change of keys CREEL_SECRET_KEYS names the old one too, until `creel secrets rotate` is done.',
    )
  }
}

/** Whether a service has run on this database. Then its secrets need the key with which they were sealed. */
export async function hasSealedSecrets(db: Db): Promise<boolean> {
  const row = await db.selectFrom('installation').select('name').where('name', '=', NAME).executeTakeFirst()
  return row !== undefined
}

/** Reseals the sample with the newest key. From then on a process without that key is refused. */
export async function resealSample(db: Db, secrets: SecretBox): Promise<void> {
  const value = secrets.seal(SAMPLE, OWNER)
  await db
    .insertInto('installation')
    .values({ name: NAME, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

/**
 * The SHA-256 of a text in UTF-8. Stored in place of keys and tokens, and used as an index of texts that are too long
 * for one.
 */
export function sha256Of(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
