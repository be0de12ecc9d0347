import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { expectCountersEqualRows } from '../../retention/support.ts'
import type { Client, TestEndpoint } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { wrongParts } from '../../support/problems.ts'
import { startService, type TestService } from '../../support/service.ts'
import { emptyHome, environmentOf, fails, succeeds } from '../../terminal/support.ts'

/** Notes of people on captured requests. */

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  alice = service.alice
})

const Noted = z.looseObject({ id: z.int(), note: z.string().nullable() })
const at = (endpoint: TestEndpoint, id: number) => endpoint.at(`/requests/${id}`)
const write = (endpoint: TestEndpoint, id: number, note: unknown) => alice.patch(at(endpoint, id), { note })
const noteOf = async (endpoint: TestEndpoint, id: number) =>
  (await alice.expect(alice.get(at(endpoint, id)), Noted)).note
const notesOf = async (endpoint: TestEndpoint, query = '') =>
  z
    .array(Noted)
    .parse(await endpoint.requests(query))
    .map(({ note }) => note)

describe('a note', () => {
  test('is set, replaced and removed, and shown wherever the request is', async () => {
    const endpoint = await alice.endpoint()
    const [first, second] = await endpoint.captureMany(2)
    const id = first?.id ?? 0
    expect(await notesOf(endpoint)).toEqual([null, null])
    const set = await write(endpoint, id, '  Paid twice:\nrefunded on Montag ü 🙂 ')
    const note = 'Paid twice:\nrefunded on Montag ü 🙂'
    expect([set.status, Noted.parse(set.body)]).toEqual([200, expect.objectContaining({ id, note })])
    expect(await noteOf(endpoint, id)).toBe(note)
    expect((await alice.get(`/api/v1/requests/${id}`)).body).toMatchObject({ note })
    expect(await notesOf(endpoint)).toEqual([null, note])
    expect(await notesOf(endpoint, 'method=POST')).toEqual([null, note])
    expect((await alice.get(endpoint.at(`/requests/await?afterId=${id - 1}`))).body).toMatchObject({ note })
    expect((await write(endpoint, id, 'x'.repeat(2_000))).status).toBe(200)
    await expectCountersEqualRows(service, endpoint.id)
    for (const empty of [null, '', ' \n']) {
      await write(endpoint, id, 'gone at once')
      expect((await write(endpoint, id, empty)).body).toMatchObject({ id, note: null })
      expect(await notesOf(endpoint)).toEqual([null, null])
    }
    await expectCountersEqualRows(service, endpoint.id)
    await write(endpoint, second?.id ?? 0, 'goes with its request')
    await alice.delete(at(endpoint, second?.id ?? 0))
    await alice.post('/api/v1/recycle-bin/restore', { requestIds: [second?.id] })
    expect(await noteOf(endpoint, second?.id ?? 0)).toBe('goes with its request')
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('is refused with every wrong part named, and a request that is not there is not found', async () => {
    const endpoint = await alice.endpoint()
    const { id } = await endpoint.capture()
    const refused = async (body: unknown) => wrongParts(await alice.patch(at(endpoint, id), body))
    expect(await refused({})).toEqual(['#/note required'])
    expect(await refused({ note: 7 })).toEqual(['#/note type'])
    expect(await refused({ note: 'x'.repeat(2_001) })).toEqual(['#/note too_long'])
    expect(await refused({ note: 'a\0b' })).toEqual(['#/note not_allowed'])
    expect(await noteOf(endpoint, id)).toBeNull()
    expect((await write(endpoint, id + 1_000_000, 'x')).status).toBe(404)
    expect((await alice.patch(endpoint.at('/requests/x'), { note: 'x' })).status).toBeOneOf([400, 404])
    await alice.delete(at(endpoint, id))
    expect((await write(endpoint, id, 'x')).status).toBe(404)
  })

  test('is written by keys that may write the endpoint only', async () => {
    const endpoint = await alice.endpoint()
    const other = await alice.endpoint()
    const { id } = await endpoint.capture()
    const Key = z.looseObject({ key: z.string() })
    const by = async (members: object) => {
      const { key } = await alice.expect(alice.post('/api/v1/keys', members), Key)
      const headers = { Authorization: `Bearer ${key}` }
      return (await alice.patch(at(endpoint, id), { note: 'mine' }, { headers })).status
    }
    expect(await by({ name: 'reader', scope: 'read' })).toBe(403)
    expect(await by({ name: 'elsewhere', scope: 'write', endpointId: other.id })).toBe(404)
    expect((await service.charlie.patch(at(endpoint, id), { note: 'mine' })).status).toBe(404)
    expect(await noteOf(endpoint, id)).toBeNull()
    expect(await by({ name: 'here', scope: 'write', endpointId: endpoint.id })).toBe(200)
  })

  test('leaves its length in the audit log, and not its text; the same note again leaves nothing', async () => {
    const endpoint = await alice.endpoint()
    const { id } = await endpoint.capture()
    for (const note of ['for ada@noted.example', 'for ada@noted.example', null, null])
      await write(endpoint, id, note)
    const { text } = await alice.get(`/api/v1/audit?action=requests.update&endpointId=${endpoint.id}`)
    expect(text).not.toContain('noted.example')
    expect(JSON.parse(text)).toMatchObject({
      totalCount: 2,
      items: [
        { subject: { type: 'request', id: String(id) }, after: { noteCharacters: null } },
        { after: { noteCharacters: 21 } },
      ],
    })
  })

  test('goes with an export, comes with an import, and is not in a share link', async () => {
    const endpoint = await alice.endpoint()
    const { id } = await endpoint.capture()
    await write(endpoint, id, 'from before ü')
    const exported = await alice.get(endpoint.at('/requests/export?format=ndjson'))
    expect(JSON.parse(exported.text)).toMatchObject({ note: 'from before ü' })
    for (const settings of [{}, { encryptBodies: true }]) {
      const copy = await alice.endpoint(settings)
      const imported = (text: string) => copy.importLines(text)
      await imported(exported.text)
      await eventually('the import', async () => (await notesOf(copy))[0] === 'from before ü')
      await expectCountersEqualRows(service, copy.id)
      const line = (note: unknown) => JSON.stringify({ ...JSON.parse(exported.text), note })
      expect(wrongParts(await imported(line('x'.repeat(2_001))))).toEqual(['#/lines/1/note too_long'])
      expect((await imported(line('a\0b'))).status).toBe(400)
    }
    const { url } = await alice.expect(
      alice.post(endpoint.at(`/requests/${id}/share-links`), {}),
      z.looseObject({ url: z.string() }),
    )
    const page = await (await fetch(url)).text()
    expect(page).toContain(`Request #${id}`)
    expect(page).not.toContain('from before')
  })

  test('is encrypted where the content is, from the start or later, and ends with the key', async () => {
    const stored = async (endpoint: TestEndpoint) => {
      const { rows } = await sql<{ text: string }>`
        select encode(note, 'escape') as text from requests where endpoint_id = ${endpoint.id}`.execute(
        service.db,
      )
      return rows[0]?.text ?? ''
    }
    const later = await alice.endpoint()
    const sealed = await alice.endpoint({ encryptBodies: true })
    for (const endpoint of [sealed, later]) {
      const { id } = await endpoint.capture({ body: '{"n":1}' })
      await write(endpoint, id, 'only for us')
      if (endpoint === later) {
        expect(await stored(later)).toBe('only for us')
        await alice.patch(later.at(''), { encryptBodies: true })
        await eventually('the encryption', async () => {
          await service.runJob('endpoints.seal', {})
          return (await stored(later)) !== 'only for us'
        })
      }
      expect(await stored(endpoint)).not.toContain('only')
      expect(await notesOf(endpoint)).toEqual(['only for us'])
      expect(await noteOf(endpoint, id)).toBe('only for us')
      await expectCountersEqualRows(service, endpoint.id)
      await write(endpoint, id, 'changed')
      expect(await noteOf(endpoint, id)).toBe('changed')
      await expectCountersEqualRows(service, endpoint.id)
      await alice.post(endpoint.at('/shred'))
      expect((await alice.get(at(endpoint, id))).body).toMatchObject({ shredded: true, note: null })
      expect((await write(endpoint, id, 'again')).body).toMatchObject({ status: 409, code: 'shredded' })
    }
  })
})

test('the terminal writes, shows and removes a note', async () => {
  const env = environmentOf(alice, await emptyHome())
  const endpoint = await alice.endpoint()
  const { id } = await endpoint.capture()
  const noted = await succeeds(['requests', 'note', String(id), 'Paid twice'], env)
  expect(noted).toContain(`#${id}`)
  expect(await noteOf(endpoint, id)).toBe('Paid twice')
  expect(await succeeds(['requests', 'get', String(id)], env)).toContain('note: Paid twice')
  const json = await succeeds(['requests', 'note', String(id), '--remove', '--json'], env)
  expect(JSON.parse(json)).toMatchObject({ id, note: null })
  expect(await fails(['requests', 'note', String(id)], env)).toMatchObject({ exitCode: 2 })
  expect(await fails(['requests', 'note', String(id), 'x', '--remove'], env)).toMatchObject({ exitCode: 2 })
})
