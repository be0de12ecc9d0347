import type { TestEndpoint } from './client.ts'
import type { TestService } from './service.ts'

/**
 * An import of one line, as a process leaves it that dies before it has stored what it accepted.
 *
 * @param text is in the path and in a header of the line
 * @returns its id
 */
export async function acceptedImport(
  { db, clock }: TestService,
  endpoint: TestEndpoint,
  text: string,
): Promise<string> {
  const importId = crypto.randomUUID()
  const dueAt = new Date(clock.now().getTime() + 60_000)
  await db
    .insertInto('imports')
    .values({ id: importId, endpointId: endpoint.id, isAccepted: true, dueAt })
    .execute()
  const head = {
    received_at: clock.now().toISOString(),
    method: 'POST',
    path: `/${text}`,
    header_names: 'X-Person',
    header_values: text,
    size_bytes: 4,
    body_truncated: false,
    body_is_binary: false,
    storage_bytes: 1028,
    body_bytes: 4,
  }
  await db
    .insertInto('importBatches')
    .values({ importId, number: 0, heads: JSON.stringify([head]), bodies: Buffer.from('late') })
    .execute()
  return importId
}

/** Lets the next sweep of imports take it for abandoned. */
export async function abandonImport({ db, clock }: TestService, importId: string): Promise<void> {
  await db.updateTable('imports').set({ dueAt: clock.now() }).where('id', '=', importId).execute()
}
