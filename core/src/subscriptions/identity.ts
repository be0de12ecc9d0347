import { createHash } from 'node:crypto'
import { canonicalJson, parseJson } from '../engine/json/index.ts'
import type { EventArguments } from '../events/index.ts'
import { type Db, run, statement } from '../platform/db/index.ts'

/** Rotations that are followed from a key. */
const ROTATIONS_MAX = 1000

const ROOT = statement(
  'root of key',
  `with recursive chain as (
    select id, 0 as depth from api_keys where id = $1::uuid
    union all
    select k.id, c.depth + 1 from chain c join api_keys k on k.replaced_by_id = c.id
    where k.workspace_id = $2::uuid and c.depth < ${ROTATIONS_MAX}
  )
  select id from chain order by depth desc limit 1`,
)

/** The key from which a key came by rotation: itself, if it was never rotated. */
export async function rootOfKey(db: Db, workspaceId: string, keyId: string): Promise<string> {
  const [row] = await run(db, ROOT, [keyId, workspaceId])
  return row?.id ?? keyId
}

/** Arguments as canonical JSON (RFC 8785); left out ones are `{}`. */
export function canonicalArguments(given: EventArguments | null | undefined): string {
  const parsed = parseJson(JSON.stringify(given ?? {}))
  return parsed === undefined ? '{}' : canonicalJson(parsed.value)
}

/** Parts that make a subscription this one and no other. */
export interface Identity {
  readonly principalId: string
  readonly url: string
  readonly name: string
  /** Canonical JSON. */
  readonly arguments: string
}

/** Id of a subscription: a UUID of version 8, made from its parts. */
export function subscriptionId({ principalId, url, name, arguments: given }: Identity): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([principalId, url, name, given]))
    .digest()
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
  const hex = digest.toString('hex').slice(0, 32)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
