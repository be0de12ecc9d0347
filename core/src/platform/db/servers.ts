import { readFileSync } from 'node:fs'
import { Socket, type SocketConnectOpts } from 'node:net'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'
import pg from 'pg'
import { isDatabaseOutage } from './failures.ts'

/** Timeout for a server to say whether it takes writes. */
const ANSWER_MS = 5_000

/** `cannot_connect_now`: callers wait for a primary as they wait for a server that starts. */
const NO_SERVER = '57P03'

/** Values of `target_session_attrs`, by whether the server must take writes. */
const TARGETS: Readonly<Record<string, boolean>> = {
  'read-write': true,
  primary: true,
  'read-only': false,
  standby: false,
}

/** Options of node-postgres that say where the server is. */
export interface ServerOptions {
  readonly connectionString: string
  readonly stream?: () => Socket
  readonly ssl?: ConnectionOptions
}

/** The URLs of a database's servers: one for each host of `postgres://user@host1:5432,host2:5433/name`. */
export function serverUrls(url: string): readonly string[] {
  const [, scheme = '', authority = '', rest = ''] = /^([^/]*\/\/)([^/?#]*)(.*)$/s.exec(url) ?? []
  const at = authority.lastIndexOf('@') + 1
  const hosts = authority.slice(at).split(',')
  return hosts.length === 1 ? [url] : hosts.map((host) => `${scheme}${authority.slice(0, at)}${host}${rest}`)
}

/** Fault of a database URL, as the end of a sentence that names it; undefined if there is none. */
export function databaseUrlMistake(url: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(url)) return 'must start with postgres:// or postgresql://'
  const urls = serverUrls(url)
  const [first = url] = urls
  if (urls.length === 1)
    return isReadable(url)
      ? undefined
      : 'must be like postgres://user:password@host:5432/name, with special characters of the password percent-encoded: %23 for #'
  if (!urls.every((one) => URL.canParse(one))) return 'must name its hosts like host1:5432,host2:5432'
  const target = new URL(first).searchParams.get('target_session_attrs') ?? 'primary'
  return target in TARGETS
    ? undefined
    : `must have a target_session_attrs of ${Object.keys(TARGETS).join(', ')}`
}

/** Whether the driver can read a URL. Its query is left out, since the driver reads the files that it names. */
function isReadable(url: string): boolean {
  try {
    new pg.Client({ connectionString: url.replace(/\?.*$/s, '') })
    return true
  } catch {
    return false
  }
}

/**
 * Options for a connection to a database. With several hosts in the URL every new connection asks all of them at once,
 * and goes to the first that fits `target_session_attrs`: `read-write` or `primary` (the default), or `read-only` or
 * `standby`. So connections follow a failover without a restart.
 *
 * Under TLS the certificate may be for any of the hosts.
 *
 * @param url as {@link serverUrls} reads it; with one host it is passed on unchanged
 */
export function serverOf(url: string): ServerOptions {
  const urls = serverUrls(url)
  const [first = url] = urls
  if (urls.length === 1) return { connectionString: url }
  const parsed = new URL(first)
  const takesWrites = TARGETS[parsed.searchParams.get('target_session_attrs') ?? 'primary'] ?? true
  const servers = urls.map(serverAt)
  const ssl = tlsOf(
    parsed.searchParams,
    servers.map(({ host }) => host),
  )
  // The driver would check certificates for the first host only.
  for (const name of ['target_session_attrs', ...TLS_PARAMETERS]) parsed.searchParams.delete(name)
  let asking: Promise<SocketConnectOpts> | undefined
  // Connections that open together share the question.
  const find = () => {
    asking ??= firstThatFits(servers, takesWrites).finally(() => {
      asking = undefined
    })
    return asking
  }
  return {
    connectionString: parsed.href,
    stream: () => socketTo(find),
    ...(ssl === undefined ? {} : { ssl }),
  }
}

interface Server {
  readonly url: string
  readonly host: string
  readonly address: SocketConnectOpts
}

function serverAt(url: string): Server {
  const { host, port } = new pg.Client({ connectionString: url })
  const address = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  return { url, host, address }
}

async function firstThatFits(servers: readonly Server[], takesWrites: boolean): Promise<SocketConnectOpts> {
  const errors: unknown[] = []
  const asked = servers.map(async ({ url, address }) => {
    try {
      if ((await isWritable(url)) === takesWrites) return address
    } catch (error) {
      errors.push(error)
    }
    throw new Error('It does not fit.')
  })
  return await Promise.any(asked).catch(() => {
    const wanted = takesWrites ? 'takes writes' : 'is a standby'
    // A mistake of the URL, such as a wrong certificate, passes by no waiting.
    const mistake = errors.find((error) => !isDatabaseOutage(error))
    const cause = mistake ?? (errors.length === servers.length ? errors[0] : undefined)
    throw (
      cause ??
      Object.assign(new Error(`None of the ${servers.length} servers ${wanted}.`), { code: NO_SERVER })
    )
  })
}

async function isWritable(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
    return rows[0]?.transaction_read_only === 'off'
  } finally {
    void client.end().catch(() => {})
  }
}

/** A socket that connects to the server that is found, whatever address it is given. */
function socketTo(find: () => Promise<SocketConnectOpts>): Socket {
  const socket = new Socket()
  const connect: (address: SocketConnectOpts) => Socket = socket.connect.bind(socket)
  socket.connect = () => {
    find().then(
      (address) => {
        // The driver destroys it at its timeout.
        if (!socket.destroyed) connect(address)
      },
      (error: Error) => socket.destroy(error),
    )
    return socket
  }
  return socket
}

const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const

/** TLS as the driver reads it from the URL of one host, with a check for any of the hosts; undefined without TLS. */
function tlsOf(query: URLSearchParams, hosts: readonly string[]): ConnectionOptions | undefined {
  const mode = query.get('sslmode')
  const isOff = mode === 'disable' || ['0', 'false'].includes(query.get('ssl') ?? '')
  if (isOff || !TLS_PARAMETERS.some((name) => query.has(name))) return undefined
  const file = (name: string) => {
    const path = query.get(name)
    return path === null ? undefined : readFileSync(path, 'utf8')
  }
  const [ca, cert, key] = [file('sslrootcert'), file('sslcert'), file('sslkey')]
  return {
    rejectUnauthorized: mode !== 'no-verify',
    checkServerIdentity: (_, certificate) => {
      const errors = hosts.map((host) => checkServerIdentity(host, certificate))
      return errors.includes(undefined) ? undefined : errors[0]
    },
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  }
}
