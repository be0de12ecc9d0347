import { connect, type Socket } from 'node:net'
import type { Random } from '../faults/random.ts'
import type { Asks } from './asks.ts'
import type { HostileConnection } from './hostileConnection.ts'
import { openConnections } from './leftovers.ts'
import type { Population } from './population.ts'
import { CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS, PROXY, type Target } from './target.ts'

/** Addresses that more connections come from than an address may have. */
export const CROWDED = ['127.0.0.31', '127.0.0.32'] as const
/** Addresses whose connections are reset at once. */
export const RESETTING = ['127.0.0.41', '127.0.0.42', '127.0.0.43'] as const
/** Addresses for which the proxy forwards. */
export const SPOKEN_FOR = ['198.51.100.1', '198.51.100.2'] as const
const TOO_MANY = 40
const RESETS_MAX = 60
const CONNECT_MS_MAX = 300
const CALM_AGAIN_MS_MAX = 30_000

/** Connections beyond each limit, one flood at a time. */
export class Floods {
  readonly #random: Random
  readonly #asks: Asks
  readonly #population: Population
  readonly #target: Target
  #held: HostileConnection[] = []
  #idle: Socket[] = []

  constructor(random: Random, asks: Asks, population: Population, target: Target) {
    this.#random = random
    this.#asks = asks
    this.#population = population
    this.#target = target
  }

  get isHigh(): boolean {
    return this.#held.length > 0 || this.#idle.length > 0
  }

  /** Opens connections and resets each at once: while the service is busy or stopped, before it has accepted them. */
  async resets(): Promise<void> {
    const count = 1 + this.#random.below(RESETS_MAX)
    const from = this.#random.pick(RESETTING)
    const writes = this.#random.chance(0.3)
    const ends = Array.from({ length: count }, () => {
      const socket = this.#dial(from)
      socket.once('connect', () => {
        if (writes) socket.write('GET /healthz HT')
        socket.resetAndDestroy()
      })
      return new Promise<void>((resolve) => socket.once('close', () => resolve()))
    })
    // A stopped service may have no room for more connections that wait.
    await Promise.race([Promise.all(ends), Bun.sleep(CONNECT_MS_MAX)])
  }

  /** Begins a flood of requests in flight, from one address or one behind the proxy, or of idle connections. */
  async begin(): Promise<void> {
    const kind = this.#random.below(3)
    if (kind === 0) this.#hold(this.#random.pick(CROWDED), undefined)
    else if (kind === 1) this.#hold(PROXY, this.#random.pick(SPOKEN_FOR))
    else await this.#idleOverflow()
  }

  /** Ends a flood: requests in flight are completed, or given up. */
  async end(): Promise<void> {
    for (const connection of this.#held) {
      const choice = this.#random.below(10)
      if (choice < 7) connection.send()
      else if (choice < 8) connection.halfClose()
      else if (choice < 9) connection.reset()
      else connection.destroy()
    }
    this.#held = []
    if (this.#idle.length === 0) return
    for (const socket of this.#idle) this.#random.chance(0.5) ? socket.resetAndDestroy() : socket.destroy()
    this.#idle = []
    const until = performance.now() + CALM_AGAIN_MS_MAX
    while ((await openConnections(this.#target)) > CONNECTIONS_MAX / 2 && performance.now() < until) {
      await Bun.sleep(20)
    }
    this.#population.endOverflow()
  }

  #hold(from: string, forwardedFor: string | undefined): void {
    for (let count = CONNECTIONS_PER_ADDRESS + TOO_MANY; count > 0; count -= 1) {
      const connection = this.#population.dial(from)
      connection.allowEnd('its address has too many')
      const ask = this.#asks.held(forwardedFor)
      connection.plan(ask)
      connection.send(ask.bytes.length - 1)
      this.#held.push(connection)
    }
  }

  async #idleOverflow(): Promise<void> {
    this.#population.beginOverflow('there are too many connections')
    const opened = Array.from({ length: CONNECTIONS_MAX }, () => {
      const socket = this.#dial(PROXY)
      this.#idle.push(socket)
      return new Promise<void>((resolve) => {
        socket.once('connect', () => resolve())
        socket.once('close', () => resolve())
      })
    })
    await Promise.race([Promise.all(opened), Bun.sleep(CONNECT_MS_MAX)])
  }

  #dial(from: string): Socket {
    const socket = connect({ port: this.#target.port, host: '127.0.0.1', localAddress: from })
    socket.on('error', () => {})
    return socket
  }
}
