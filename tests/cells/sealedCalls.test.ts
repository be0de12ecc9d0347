import { afterAll, beforeAll, expect, test } from 'bun:test'
import { isDeepStrictEqual } from 'node:util'
import { appRouter, type Db } from '@creel/core'
import { sql } from 'kysely'
import { z } from 'zod'
import { TestBrowser } from '../support/browser.ts'
import { startTwoCells, type TwoCells } from '../support/cells.ts'
import { type Answer, type CallOptions, Client } from '../support/client.ts'
import { mutationsOf, STEPS, STEPS_WITHOUT_ENTRY, WITHOUT_ENTRY } from '../support/mutations.ts'
import { runCreel } from '../support/process.ts'
import { makeWorld } from '../support/world.ts'

/** Changes by calls that were accepted just before the seal of their workspace: they would be lost. */

let cells: TwoCells

beforeAll(async () => {
  cells = await startTwoCells()
})

afterAll(() => cells.stop())

/** Tables that each accepted call writes to, before its own work. */
const CALLS = ['api_key_windows', 'session_windows'] as const

/** Seals a workspace together with the next write to a table, while the function that it returns runs its work. */
async function sealingWith(db: Db, workspaceId: string, tables: readonly string[]) {
  await sql`create table seals (is_on boolean not null)`.execute(db)
  await sql`insert into seals values (false)`.execute(db)
  await sql
    .raw(
      `create function seal() returns trigger language plpgsql as $$ begin
        if exists (select from seals where is_on) then
          update workspaces set sealed_until = clock_timestamp() + interval '1 minute' where id = '${workspaceId}';
          update endpoint_revisions set revision = revision + 1;
        end if;
        return null; end $$`,
    )
    .execute(db)
  for (const table of tables) {
    const when = `after insert or update on ${table} for each statement`
    await sql.raw(`create trigger seal ${when} execute function seal()`).execute(db)
  }
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await sql`update seals set is_on = true`.execute(db)
    try {
      return await work()
    } finally {
      await sql`update seals set is_on = false`.execute(db)
      await sql`update workspaces set sealed_until = null`.execute(db)
      await sql`update endpoint_revisions set revision = revision + 1`.execute(db)
    }
  }
}

type Sealing = Awaited<ReturnType<typeof sealingWith>>

/** Answers under the seal of calls that may change something. */
type Seen = { call: string; status: number; retryAfter: string | null; body?: unknown }[]

/** The answer of a call for due requests, which may wait until the seal ends: it gives none. */
const NOTHING_TAKEN = { items: [], state: 'running' }

/** Makes each call that may change something twice: under the seal, and again after it. */
class SealedClient extends Client {
  constructor(
    of: Client,
    readonly sealing: Sealing,
    readonly seen: Seen,
  ) {
    super(of.baseUrl, of.captureUrl, of.key, of.workspaceId)
  }

  override async call(
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<Answer> {
    const again = () => super.call(method, path, body, options)
    if (method === 'GET') return await again()
    const { status, headers, body: answer } = await this.sealing(again)
    const retryAfter = headers.get('retry-after')
    this.seen.push({ call: `${method} ${path}`, status, retryAfter, body: answer })
    return await again()
  }
}

class SealedBrowser extends TestBrowser {
  constructor(
    of: Client,
    readonly sealing: Sealing,
    readonly seen: Seen,
  ) {
    super(of)
  }

  override async call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const again = () => super.call(method, path, body, headers)
    if (method === 'GET' || path === '/console/session') return await again()
    const answer = await this.sealing(again)
    this.seen.push({
      call: `${method} ${path}`,
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
    })
    return await again()
  }
}

test('every mutation is refused under the seal, and can be made after it', async () => {
  const walked = Object.keys({ ...STEPS, ...STEPS_WITHOUT_ENTRY })
  const harmless = Object.entries(WITHOUT_ENTRY).filter(([, reason]) => reason === 'changes nothing')
  expect([...walked, ...harmless.map(([name]) => name)].sort()).toEqual(mutationsOf(appRouter).sort())
  const { db } = cells.databases['cell-1']
  const { owner } = cells.one
  const sealing = await sealingWith(db, owner.workspaceId, CALLS)
  const seen: Seen = []
  const client = new SealedClient(owner, sealing, seen)
  const signIn = async () => {
    const words = ['console', '--workspace', owner.workspaceId]
    const { stdout } = await runCreel(words, { env: cells.program.env })
    const browser = new SealedBrowser(owner, sealing, seen)
    await browser.signIn({ link: stdout.trim().split('#')[1] })
    return browser
  }
  const faults: string[] = []
  for (const steps of [STEPS, STEPS_WITHOUT_ENTRY]) {
    const bench = { ...(await makeWorld(owner)), client, db, owner: signIn }
    for (const [name, { run }] of Object.entries(steps)) {
      seen.length = 0
      await run(bench).catch((error: unknown) => faults.push(`${name}: ${error}`))
      if (seen.length === 0) faults.push(`${name}: no call`)
      for (const { call, status, retryAfter, body } of seen) {
        if (call.endsWith('/take') && isDeepStrictEqual(body, NOTHING_TAKEN)) continue
        if (status !== 503 || retryAfter === null) faults.push(`${name}: ${call} is ${status} ${retryAfter}`)
      }
    }
  }
  expect(faults).toEqual([])
})

test('a challenge whose secret would be lost is refused, and its sender repeats it', async () => {
  const { owner } = cells.two
  const { db } = cells.databases['cell-2']
  const endpoint = await owner.endpoint({ provider: 'asana' })
  const headers = { 'X-Hook-Secret': 'b537207f20cbfa02357cf448134da559e8bd39d61597dcd5631b8012eae53e81' }
  const sealing = await sealingWith(db, owner.workspaceId, ['requests'])
  const sealed = await sealing(() => endpoint.send({ headers }))
  const Stored = z.looseObject({ verification: z.looseObject({ secretSet: z.boolean() }) })
  const before = await owner.expect(owner.get(endpoint.at('')), Stored)
  const again = await endpoint.send({ headers })
  const after = await owner.expect(owner.get(endpoint.at('')), Stored)
  expect([sealed.status, before.verification.secretSet]).toEqual([503, false])
  expect([again.status, after.verification.secretSet]).toEqual([200, true])
})
