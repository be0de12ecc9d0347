import { ALONE, type SharedCounts, type SharedLimit } from '../sharedCounts/index.ts'
import type { HttpExchange } from './httpExchange.ts'
import type { HttpLimits } from './httpLimits.ts'
import type { Refusal } from './requestHead.ts'
import type { TurnQueue } from './turnQueue.ts'

/**
 * Order in which connections are ended to make room, the lowest first; undefined for one with a request in flight. A
 * client that only opens connections, or begins heads, loses its own, and not one that another client is about to use
 * again.
 */
function rankOf(connection: OwnedConnection): number | undefined {
  if (!connection.hasServed) return connection.isIdle ? 0 : 1
  return connection.isIdle ? 2 : undefined
}

/** The connection of the lowest rank that arrived first; the sets are in order of arrival. */
function firstToEnd(connections: Iterable<OwnedConnection>): OwnedConnection | undefined {
  let found: { readonly connection: OwnedConnection; readonly rank: number } | undefined
  for (const connection of connections) {
    const rank = rankOf(connection)
    if (rank === 0) return connection
    if (rank !== undefined && rank < (found?.rank ?? Number.POSITIVE_INFINITY)) found = { connection, rank }
  }
  return found?.connection
}

/** An address with as many connections gives room before others, whatever it uses them for. */
const MANY = 16

/** The most connections that one look at all of them chooses, so that a flood at the limit does not look each time. */
const CHOSEN_MAX = 64

/** How connections are counted together with those of the program's other processes. */
export interface SharedConnections {
  readonly counts: SharedCounts
  /** Limit of the connections of all processes. */
  readonly connectionsMax: number
  /** Called for a connection that was ended because the processes had passed a limit together. */
  readonly onShed: (connection: OwnedConnection) => void
}

/** Compares lists of numbers member by member: below zero if `left` comes first. */
function compared(left: readonly number[], right: readonly number[]): number {
  for (const [at, number] of left.entries()) {
    const difference = number - (right[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function newest(connections: Iterable<OwnedConnection>): OwnedConnection | undefined {
  return [...connections].at(-1)
}

/**
 * All open connections, by address. When there are too many, of one address or in all, one is closed: of the address with
 * the most connections if it has many, without a request yet before those that had one, and the oldest. If all have
 * requests in flight, the new connection is refused.
 *
 * Where several processes passed a limit together, those with the most connections close theirs in the same order, and
 * then the newest.
 */
export class ConnectionTable {
  readonly #limits: Pick<HttpLimits, 'connectionsMax' | 'connectionsPerAddressMax'>
  readonly #all = new Set<OwnedConnection>()
  readonly #byAddress = new Map<string, Set<OwnedConnection>>()
  readonly #addressOf = new Map<OwnedConnection, string>()
  /** Connections that are ended next, all of the same rank and of addresses with as many connections. */
  #chosen: { readonly rank: number; readonly connections: Set<OwnedConnection> } | undefined
  readonly #inAll: SharedLimit
  readonly #ofAddress: SharedLimit

  /** @param shared counts connections together with other processes; none by default */
  constructor(
    limits: Pick<HttpLimits, 'connectionsMax' | 'connectionsPerAddressMax'>,
    shared: SharedConnections = {
      counts: ALONE,
      connectionsMax: limits.connectionsMax,
      onShed: () => {},
    },
  ) {
    this.#limits = limits
    const shed = (
      connections: Set<OwnedConnection>,
      most: number,
      first: () => OwnedConnection | undefined = () => firstToEnd(connections),
    ) => {
      while (connections.size > most) {
        const ended = first() ?? newest(connections)
        if (ended === undefined) return
        this.#end(ended)
        shared.onShed(ended)
      }
    }
    this.#inAll = shared.counts.share('connections', {
      max: shared.connectionsMax,
      read: () => this.#all.size,
      shed: (_, most) => shed(this.#all, most, () => this.#choose()),
    })
    this.#ofAddress = shared.counts.share('connections of', {
      max: limits.connectionsPerAddressMax,
      read: (group) => this.#byAddress.get(group)?.size ?? 0,
      shed: (group, most) => shed(this.#byAddress.get(group) ?? new Set(), most),
    })
  }

  get size(): number {
    return this.#all.size
  }

  [Symbol.iterator](): Iterator<OwnedConnection> {
    return this.#all.values()
  }

  /**
   * @param address null for a trusted proxy, which has no limit of its own
   * @returns false when there is no room
   */
  add(connection: OwnedConnection, address: string | null): boolean {
    if (this.#isFull() && !this.#endOne(this.#choose())) return false
    this.#all.add(connection)
    this.#inAll.changed('', this.#all.size)
    if (this.assign(connection, address)) return true
    this.remove(connection)
    return false
  }

  /**
   * Assigns a connection to an address. Behind a proxy the address changes with each request.
   *
   * @returns false when that address has too many connections
   */
  assign(connection: OwnedConnection, address: string | null): boolean {
    this.#unassign(connection)
    if (address === null) {
      const group = `proxy ${connection.peer}`
      const others = this.#byAddress.get(group) ?? new Set()
      this.#byAddress.set(group, others.add(connection))
      this.#addressOf.set(connection, group)
      return true
    }
    const group = addressGroup(address)
    const mine = this.#byAddress.get(group) ?? new Set()
    if (this.#ofAddress.isFull(group, mine.size) && !this.#endOne(firstToEnd(mine))) return false
    this.#byAddress.set(group, mine.add(connection))
    this.#addressOf.set(connection, group)
    this.#ofAddress.changed(group, mine.size)
    return true
  }

  remove(connection: OwnedConnection): void {
    this.#chosen?.connections.delete(connection)
    if (this.#all.delete(connection)) this.#inAll.changed('', this.#all.size)
    this.#unassign(connection)
  }

  #isFull(): boolean {
    const open = this.#all.size
    return open >= this.#limits.connectionsMax || this.#inAll.isFull('', open)
  }

  #endOne(connection: OwnedConnection | undefined): boolean {
    if (connection === undefined) return false
    this.#end(connection)
    return true
  }

  /** The connection to end for a new one of any address. */
  #choose(): OwnedConnection | undefined {
    const known = this.#chosen
    for (const connection of known?.connections ?? []) {
      known?.connections.delete(connection)
      if (rankOf(connection) === known?.rank) return connection
    }
    let best:
      | { readonly order: readonly number[]; readonly rank: number; readonly connections: OwnedConnection[] }
      | undefined
    for (const connection of this.#all) {
      const rank = rankOf(connection)
      if (rank === undefined) continue
      const size = this.#byAddress.get(this.#addressOf.get(connection) ?? '')?.size ?? 0
      const order = [size < MANY ? 0 : -size, rank, -size]
      const before = best === undefined ? -1 : compared(order, best.order)
      if (before < 0) best = { order, rank, connections: [connection] }
      else if (before === 0 && best !== undefined && best.connections.length < CHOSEN_MAX)
        best.connections.push(connection)
    }
    const [first, ...next] = best?.connections ?? []
    this.#chosen = best && { rank: best.rank, connections: new Set(next) }
    return first
  }

  #end(connection: OwnedConnection): void {
    // Removed now and not at its close event. Until then the next new connection would choose it again.
    this.remove(connection)
    connection.terminate()
  }

  #unassign(connection: OwnedConnection): void {
    const group = this.#addressOf.get(connection)
    if (group === undefined) return
    this.#addressOf.delete(connection)
    const mine = this.#byAddress.get(group)
    mine?.delete(connection)
    if (mine?.size === 0) this.#byAddress.delete(group)
    if (!group.startsWith('proxy ')) this.#ofAddress.changed(group, mine?.size ?? 0)
  }
}

/**
 * The unit that limits count: an IPv4 address, or an IPv6 network of 64 bits, which belongs to one customer.
 *
 * @param address in any spelling that a socket gives
 */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}

/** A connection, as its listener sees it. */
export interface OwnedConnection {
  /** The address at the other end. */
  readonly peer: string
  /** Whether no request is in flight, so that the connection can be ended without harm. */
  readonly isIdle: boolean
  /** Whether it has ever carried a request. */
  readonly hasServed: boolean
  /** Bytes of answers that its client has not taken. */
  readonly unsentBytes: number
  /** Call once a tick. Terminates the connection when a deadline has passed. */
  checkDeadlines(): void
  end(): void
  /** Terminates the connection, even with a request in flight. */
  terminate(): void
  /** Terminates the connection because of an error of the service, which is reported. Does not throw. */
  fail(error: unknown): void
}

/** The listener, as its connections see it. */
export interface ConnectionOwner {
  readonly limits: HttpLimits
  readonly ticks: { readonly idle: number; readonly head: number; readonly linger: number }
  /** The listener's clock. */
  readonly tick: number
  /** Whether the listener takes no further requests: connections end after their current answer. */
  readonly isDraining: boolean
  serve(connection: OwnedConnection, exchange: HttpExchange): void
  onIdle(connection: OwnedConnection): void
  onRefused(connection: OwnedConnection, refusal: Refusal): void
  /** Receives an error of the service that ended this connection. */
  onFault(error: unknown): void
  /** Connections that continue with pipelined requests in a later turn of the event loop. */
  readonly turns: TurnQueue
}
