import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import pg from 'pg'
import { requireServer } from '../../creel/src/database/index.ts'
import { StartupError } from '../../creel/src/startupError.ts'
import { type DebianPostgres, debianPostgresPrograms, startDebianPostgres } from '../faults/debianPostgres.ts'
import { freePort } from '../support/freePort.ts'
import { runCreel, startProcess, temporaryFolder } from '../support/process.ts'

/** A PostgreSQL with TLS, whose certificate is from our own CA. */

const programs = debianPostgresPrograms()
const canRun = programs !== undefined && Bun.which('openssl') !== null

let postgres: DebianPostgres
let port: number
let folder: string

const openssl = (...words: string[]) => Bun.$`openssl ${words}`.cwd(folder).quiet()

/** A CA: `<name>.key` and `<name>.pem`. */
const makeCa = (name: string) =>
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.pem`,
  )

/** A certificate for `localhost`, in PostgreSQL's folder. */
async function makeServerCertificate(into: string): Promise<readonly string[]> {
  const [key, certificate] = [join(into, 'server.key'), join(into, 'server.pem')]
  await openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
    '-keyout',
    key,
    '-out',
    'server.csr',
  )
  await openssl(
    'x509',
    '-req',
    '-in',
    'server.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-days',
    '2',
    '-copy_extensions',
    'copy',
    '-out',
    certificate,
  )
  return [
    'ssl=on',
    `ssl_key_file=${key}`,
    `ssl_cert_file=${certificate}`,
    'listen_addresses=127.0.0.1',
    `port=${port}`,
  ]
}

const urlWith = (query: string, host = 'localhost') => `postgres://creel@${host}:${port}/postgres?${query}`
const caFile = (name: string) => `sslrootcert=${encodeURIComponent(join(folder, name))}`

beforeAll(async () => {
  if (!canRun) return
  folder = await temporaryFolder()
  port = await freePort()
  await makeCa('ca')
  await makeCa('other')
  postgres = await startDebianPostgres(programs ?? '', makeServerCertificate)
})

afterAll(async () => {
  if (canRun) await postgres.kill()
})

/** The error of the program for a database that it cannot use. */
async function refusalOf(url: string): Promise<string> {
  const database = openDatabase(url)
  try {
    await requireServer(database.db, { warn: () => {} })
    return 'It was accepted.'
  } catch (error) {
    return error instanceof StartupError ? error.message : `No sentence: ${error}`
  } finally {
    await database.close()
  }
}

describe.skipIf(!canRun)('TLS to the database', () => {
  test('with verify-full and the file of its CA, every connection of the service is encrypted', async () => {
    const url = urlWith(`sslmode=verify-full&${caFile('ca.pem')}`)
    const creel = await startProcess({ database: { url } })
    const { key = '', captureUrl = '' } = creel.first ?? {}
    expect((await fetch(captureUrl, { method: 'POST', body: 'over TLS' })).status).toBe(200)
    const id = captureUrl.slice(captureUrl.lastIndexOf('/') + 1)
    const list = await fetch(`${creel.baseUrl}/api/v1/endpoints/${id}/requests?q=over`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    expect(await list.json()).toMatchObject({ totalCount: 1 })

    const onlooker = new pg.Client({ connectionString: postgres.url.replace(':5432', `:${port}`) })
    await onlooker.connect()
    const { rows } = await onlooker.query(
      `select ssl, count(*)::int as count from pg_stat_ssl join pg_stat_activity using (pid)
       where client_addr is not null group by ssl`,
    )
    await onlooker.end()
    expect(rows).toEqual([{ ssl: true, count: expect.any(Number) }])
    // The pool, the searches, the queue and two listeners.
    expect(rows[0].count).toBeGreaterThanOrEqual(4)
    expect(await creel.stop()).toBe(0)
  })

  test('of another CA, or for another name, is refused, with a sentence', async () => {
    const ofOther = `sslmode=verify-full&${caFile('other.pem')}`
    expect(await refusalOf(urlWith(ofOther))).toContain(
      'its certificate is not signed by the CA in sslrootcert',
    )
    expect(await refusalOf(urlWith('sslmode=verify-full'))).toContain('is not signed by the CA')
    const ofOurs = `sslmode=verify-full&${caFile('ca.pem')}`
    expect(await refusalOf(urlWith(ofOurs, '127.0.0.1'))).toContain('its certificate is for another name')
    expect(await refusalOf(urlWith('sslmode=no-verify'))).toBe('It was accepted.')

    const { exitCode, stderr } = await runCreel(['migrate'], { database: { url: urlWith(ofOther) } })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /^creel: The database cannot be used: its certificate is not signed by the CA .*\n$/,
    )
  })

  test('of several hosts the certificate may be for any, and no other', async () => {
    const unused = await freePort()
    const tls = `sslmode=verify-full&${caFile('ca.pem')}`
    const urlOf = (...hosts: string[]) => `postgres://creel@${hosts.join()}/postgres?${tls}`
    expect(await refusalOf(urlOf(`localhost:${unused}`, `localhost:${port}`))).toBe('It was accepted.')
    expect(await refusalOf(urlOf(`127.0.0.1:${port}`, `localhost:${port}`))).toBe('It was accepted.')
    expect(await refusalOf(urlOf(`127.0.0.1:${port}`, `127.0.0.2:${port}`))).toMatch(/certificate/)
    const database = openDatabase(
      `${urlOf(`localhost:${port}`, `localhost:${port}`)}&target_session_attrs=standby`,
    )
    expect(sql`select 1`.execute(database.db)).rejects.toThrow('None of the 2 servers is a standby')
    await database.close()
  })

  test('with a CA file that is not there is a mistake of the environment', async () => {
    const url = urlWith(`sslmode=verify-full&${caFile('absent.pem')}`)
    const { exitCode, stderr } = await runCreel(['migrate'], { database: { url } })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/DATABASE_URL names a file in sslrootcert that cannot be read: .*absent\.pem/)
  })
})

test.skipIf(programs === undefined)('a server without TLS is refused when the URL asks for it', async () => {
  const plainPort = await freePort()
  const plain = await startDebianPostgres(programs ?? '', async () => [
    'listen_addresses=127.0.0.1',
    `port=${plainPort}`,
  ])
  const url = `postgres://creel@localhost:${plainPort}/postgres?sslmode=verify-full`
  const refusal = await refusalOf(url)
  await plain.kill()
  expect(refusal).toContain('it does not offer TLS, which sslmode requires')
})
