import { createHash } from 'node:crypto'
import net from 'node:net'
import tls from 'node:tls'
import { type Agent, type buildConnector, Client, Pool } from 'undici/index.js'
import { within } from '../time/index.ts'
import { findPassage, hostOf, type SsrfGuard } from './ssrfGuard.ts'

/** TLS settings of connections to one destination, in PEM. */
export interface TlsIdentity {
  /** Our certificate, then its intermediate ones; null sends none. */
  readonly clientCertificate: string | null
  /** Private key of {@link clientCertificate}, in the clear. */
  readonly clientKey: string | null
  /** Authorities of the receiver's certificate, which replace the built-in ones; null trusts the built-in ones. */
  readonly certificateAuthority: string | null
}

/** The most identities with open connections. Connections of the least recently used are closed once they are idle. */
const AGENTS_MAX = 256

/**
 * Makes connection pools by identity, each when it is first used. No connection of one identity is used for another.
 *
 * @param newAgent makes a pool
 */
export function createTlsAgents(newAgent: (tls: TlsIdentity) => Agent) {
  /** Ordered by last use. */
  const agents = new Map<string, Agent>()
  return {
    agentOf(tls: TlsIdentity): Agent {
      const key = keyOf(tls)
      const agent = agents.get(key) ?? newAgent(tls)
      agents.delete(key)
      agents.set(key, agent)
      const [oldest] = agents.keys()
      if (agents.size > AGENTS_MAX && oldest !== undefined) {
        // Closes after its sends in flight have ended.
        agents.get(oldest)?.close(() => {})
        agents.delete(oldest)
      }
      return agent
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }
}

/**
 * The most open connections of which some are kept for later sends. Receivers say how long a connection is kept, for up to
 * ten minutes, and each host and port has connections of its own. So without this bound one workspace with many
 * destinations would use up the descriptors of the process.
 */
const OPEN_WITH_IDLE_MAX = 1024

/** Bounds the connections of all pools together that are open and unused. The ones unused for longest are closed. */
export function createKeptConnections() {
  /** Open connections, ordered by the last send. */
  const open = new Map<KeptClient, net.Socket>()

  const closeUnused = () => {
    for (const [client, socket] of open) {
      if (open.size <= OPEN_WITH_IDLE_MAX) return
      if (client.stats.size > 0) continue
      open.delete(client)
      socket.destroy()
    }
  }

  /** A connection of a pool. */
  class KeptClient extends Client {
    constructor(origin: URL, connect: buildConnector.connector, options: object) {
      super(origin, {
        ...options,
        connect: (target, callback) =>
          connect(target, (...[error, socket]) => {
            if (error !== null) return callback(error, null)
            boundReading(socket, () => this.stats.size === 0)
            if (!socket.destroyed) open.set(this, socket)
            socket.once('close', () => {
              if (open.get(this) === socket) open.delete(this)
            })
            callback(null, socket)
            closeUnused()
          }),
      })
    }

    override dispatch(...send: Parameters<Client['dispatch']>): boolean {
      const socket = open.get(this)
      if (socket !== undefined) {
        open.delete(this)
        open.set(this, socket)
      }
      return super.dispatch(...send)
    }
  }

  return {
    /** Makes the pool of an origin. Its connections dial by `connect`. */
    poolOf: (connect: buildConnector.connector) => (origin: string | URL, options: object) =>
      new Pool(origin, { ...options, factory: (at, ofPool) => new KeptClient(at, connect, ofPool) }),
  }
}

function keyOf({ clientCertificate, clientKey, certificateAuthority }: TlsIdentity): string {
  const parts = JSON.stringify([clientCertificate, clientKey, certificateAuthority])
  return createHash('sha256').update(parts).digest('base64')
}

/**
 * The most bytes that a connection reads for one request. The longest body that is read is shorter, even in chunks of one
 * byte each. Only framing without end is longer, such as interim responses or an extension of a chunk.
 */
const READ_BYTES_MAX = 32 * 1024 * 1024

/** The same where nothing was asked. A parser skips blank lines and interim responses there. The next send opens another connection. */
const UNASKED_BYTES_MAX = 64 * 1024

/** Reason for a failed connection. */
export type DialOutcome = 'dns' | 'connect' | 'tls' | 'blocked_address' | 'loop'

/** Carries the outcome of a failed dial through undici to the sender. */
export class DialError extends Error {
  override readonly name = 'DialError'

  constructor(
    readonly outcome: DialOutcome,
    readonly detail: string,
  ) {
    super(`${outcome}: ${detail}`)
  }
}

interface DialOptions {
  readonly guard: SsrfGuard
  readonly connectTimeoutMs: number
  /** PEM certificates to trust instead of the built-in ones: for tests and private authorities. */
  readonly certificateAuthorities?: string | undefined
  readonly trustsAnyCertificate?: boolean
  /** TLS settings of one destination. Its authority replaces {@link certificateAuthorities}. */
  readonly tls?: TlsIdentity | null
}

/**
 * The connector that undici uses for every connection. It resolves the name, checks the address, and dials *the address
 * that it checked*, as a literal, so that DNS cannot answer differently in between. Undici's own connector is not used:
 * it passes the name to the system, which resolves it a second time.
 */
export function guardedConnector(options: DialOptions): buildConnector.connector {
  return ({ hostname, port, protocol, servername }, callback) => {
    const secure = protocol === 'https:'
    const target = { hostname, port: port === '' ? (secure ? 443 : 80) : Number(port), secure, servername }
    dial(options, target).then(
      (socket) => callback(null, socket),
      (error: unknown) =>
        callback(error instanceof DialError ? error : new DialError('connect', String(error)), null),
    )
  }
}

interface Target {
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
  readonly servername: string | undefined
}

async function dial(options: DialOptions, target: Target): Promise<net.Socket> {
  const deadline = performance.now() + options.connectTimeoutMs
  const passage = await within(
    findPassage(options.guard, target.hostname, target.port),
    deadline - performance.now(),
  )
  if (passage === undefined)
    throw new DialError('dns', `${target.hostname} did not resolve within ${options.connectTimeoutMs} ms`)
  if ('refused' in passage) throw new DialError(passage.refused, passage.detail)

  let failure = new DialError('connect', 'no address answered')
  for (const [index, address] of passage.addresses.entries()) {
    const left = deadline - performance.now()
    if (left <= 0) break
    try {
      // An address that drops packets must not use up the time of the addresses after it.
      return await connectTo(options, target, address, left / (passage.addresses.length - index))
    } catch (error) {
      if (!(error instanceof DialError)) throw error
      failure = error
      // A host with a bad certificate has answered, so no other address is tried.
      if (error.outcome === 'tls') break
    }
  }
  throw failure
}

function connectTo(
  options: DialOptions,
  target: Target,
  address: string,
  timeoutMs: number,
): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    let connected = false
    const where = { host: address, port: target.port }
    const socket = target.secure
      ? tls.connect({
          ...where,
          // The certificate must name the host of the URL, not the address; an address has no server name.
          ...(net.isIP(target.hostname) === 0
            ? { servername: hostOf(target.servername ?? target.hostname) }
            : {}),
          ...secureOptions(options),
          rejectUnauthorized: options.trustsAnyCertificate !== true,
          ALPNProtocols: ['http/1.1'],
        })
      : net.connect(where)
    const timer = setTimeout(
      () => fail(connected ? 'tls' : 'connect', `no answer within ${Math.round(timeoutMs)} ms`),
      timeoutMs,
    )
    const fail = (outcome: DialOutcome, detail: string) => {
      clearTimeout(timer)
      socket.destroy()
      reject(new DialError(outcome, detail))
    }
    const onError = (error: NodeJS.ErrnoException) => {
      const refused = !target.secure || !connected
      fail(
        refused && isSocketError(error) ? 'connect' : target.secure ? 'tls' : 'connect',
        error.code ?? error.message,
      )
    }
    socket.setNoDelay(true)
    socket.on('error', onError)
    socket.once('connect', () => {
      connected = true
    })
    socket.once('close', () => fail(connected ? 'tls' : 'connect', 'the connection was closed'))
    socket.once(target.secure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      socket.removeAllListeners('close')
      // undici adds its own listeners as soon as it has the socket.
      queueMicrotask(() => queueMicrotask(() => socket.off('error', onError)))
      resolve(socket)
    })
  })
}

/**
 * Breaks the connection off once it has read {@link READ_BYTES_MAX} since it last wrote, or {@link UNASKED_BYTES_MAX} if no
 * request waits for an answer.
 */
function boundReading(socket: net.Socket, isUnused: () => boolean): void {
  let written = socket.bytesWritten
  let readThen = socket.bytesRead
  socket.on('readable', () => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten
      readThen = socket.bytesRead
      return
    }
    const read = socket.bytesRead - readThen
    if (read > UNASKED_BYTES_MAX && (read > READ_BYTES_MAX || isUnused())) socket.destroy()
  })
}

function secureOptions({ tls, certificateAuthorities }: DialOptions): tls.ConnectionOptions {
  const ca = tls?.certificateAuthority ?? certificateAuthorities
  const identity = { cert: tls?.clientCertificate ?? undefined, key: tls?.clientKey ?? undefined }
  return { ...(ca === undefined ? {} : { ca }), ...(identity.cert === undefined ? {} : identity) }
}

/** Errors of the network, as opposed to those of certificates and handshakes. */
function isSocketError(error: NodeJS.ErrnoException): boolean {
  return /^E[A-Z]+$/.test(error.code ?? '') || error.syscall === 'connect'
}
