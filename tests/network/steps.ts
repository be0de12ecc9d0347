import type { Random } from '../faults/random.ts'
import type { Asks } from './asks.ts'
import { Floods } from './floods.ts'
import type { HostileConnection } from './hostileConnection.ts'
import type { Population } from './population.ts'
import type { Target } from './target.ts'

/** Addresses with fewer connections than an address may have. */
export const CALM = [
  '127.0.0.11',
  '127.0.0.12',
  '127.0.0.13',
  '127.0.0.14',
  '127.0.0.15',
  '127.0.0.16',
] as const
const CALM_CONNECTIONS_MAX = 150
const PIPELINED_MAX = 12
const MANY_FILES = 8
const STEPS_PER_TURN = 5
const PAUSE_MS_MAX = 4
const FROZEN_STEPS_MAX = 40
const FLOOD_STEPS_MAX = 150

type Step = () => unknown
/** Steps, each with how often it is chosen. */
type Weighted = readonly (readonly [number, Step])[]

/** Random steps of many connections, one after the other. */
export class Steps {
  readonly #random: Random
  readonly #asks: Asks
  readonly #population: Population
  readonly #target: Target
  readonly #floods: Floods
  /** Steps that are possible while the service is stopped, too. */
  readonly #moves: Weighted
  readonly #all: Weighted
  #calm: HostileConnection[] = []
  #taken = 0
  #cutAt = 0
  #floodEndsAt = 0

  constructor(random: Random, asks: Asks, population: Population, target: Target) {
    this.#random = random
    this.#asks = asks
    this.#population = population
    this.#target = target
    this.#floods = new Floods(random, asks, population, target)
    const some = (act: (connection: HostileConnection) => void) => () => {
      const connection = this.#some()
      if (connection !== undefined) act(connection)
    }
    this.#moves = [
      [12, () => this.#open()],
      [22, some((connection) => this.#ask(connection, 1))],
      [8, some((connection) => this.#ask(connection, 1 + random.below(PIPELINED_MAX)))],
      [12, some((connection) => this.#begin(connection))],
      [10, some((connection) => this.#bytes(connection))],
      [8, some((connection) => connection.send(1 + random.below(4000)))],
      [6, some((connection) => connection.send())],
      [5, some((connection) => connection.pause())],
      [6, some((connection) => connection.resume())],
      [2, some((connection) => connection.halfClose())],
      [3, some((connection) => connection.reset())],
      [3, some((connection) => connection.destroy())],
      [2, some((connection) => this.#malformed(connection))],
      [1, some((connection) => this.#follow(connection))],
      [6, () => this.#cut()],
      [1, some((connection) => this.#files(connection))],
    ]
    this.#all = [
      ...this.#moves,
      [2, () => this.#floods.resets()],
      [1, () => this.#freeze()],
      [2, () => Bun.sleep(random.below(PAUSE_MS_MAX))],
    ]
  }

  /** Steps so far. */
  get taken(): number {
    return this.#taken
  }

  /** Takes `count` steps. No flood is left afterwards. */
  async take(count: number): Promise<void> {
    for (let step = 0; step < count; step += 1) {
      await this.#one(this.#all)
      if (this.#taken % STEPS_PER_TURN === 0) await turn()
      if (this.#floods.isHigh ? this.#taken >= this.#floodEndsAt : this.#random.chance(0.003)) {
        await this.#turnTide()
      }
    }
    if (this.#floods.isHigh) await this.#floods.end()
  }

  async #turnTide(): Promise<void> {
    if (this.#floods.isHigh) return await this.#floods.end()
    this.#floodEndsAt = this.#taken + 1 + this.#random.below(FLOOD_STEPS_MAX)
    await this.#floods.begin()
  }

  async #one(steps: Weighted): Promise<void> {
    this.#taken += 1
    let at = this.#random.below(steps.reduce((sum, [weight]) => sum + weight, 0))
    for (const [weight, step] of steps) {
      at -= weight
      if (at < 0) return void (await step())
    }
  }

  #some(): HostileConnection | undefined {
    this.#calm = this.#calm.filter(({ canSend }) => canSend)
    const [first, ...others] = this.#calm
    return first === undefined ? this.#open() : this.#random.pick([first, ...others])
  }

  #open(): HostileConnection | undefined {
    this.#calm = this.#calm.filter(({ isClosed }) => !isClosed)
    if (this.#calm.length >= CALM_CONNECTIONS_MAX) return undefined
    const connection = this.#population.dial(this.#random.pick(CALM))
    this.#calm.push(connection)
    return connection
  }

  #ask(connection: HostileConnection, count: number): void {
    for (let asked = 0; asked < count && connection.canAsk; asked += 1) connection.plan(this.#asks.any())
    connection.send()
  }

  /** Sends a part of a request. */
  #begin(connection: HostileConnection): void {
    if (!connection.canAsk) return
    const ask = this.#asks.any()
    connection.plan(ask)
    connection.send(1 + this.#random.below(ask.bytes.length))
  }

  #bytes(connection: HostileConnection): void {
    for (let count = 1 + this.#random.below(5); count > 0; count -= 1) connection.send(1)
  }

  #malformed(connection: HostileConnection): void {
    if (!connection.canAsk) return
    connection.plan(this.#asks.malformed())
    connection.send()
  }

  #follow(connection: HostileConnection): void {
    if (!connection.canAsk) return
    connection.plan(this.#asks.stream())
    connection.send()
  }

  /** Many long answers at once, to a reader that is fast or does not read. */
  #files(connection: HostileConnection): void {
    for (let count = 0; count < MANY_FILES && connection.canAsk; count += 1)
      connection.plan(this.#asks.file())
    if (this.#random.chance(0.5)) connection.pause()
    connection.send()
  }

  /** Cuts a request at the next offset, and ends it or continues later. */
  #cut(): void {
    const connection = this.#open()
    if (connection === undefined) return
    const ask = this.#asks.capture({ isPlain: true, bytes: 40 })
    connection.plan(ask)
    connection.send(1 + (this.#cutAt++ % ask.bytes.length))
    const choice = this.#random.below(6)
    if (choice === 0) connection.halfClose()
    else if (choice === 1) connection.reset()
    else if (choice === 2) connection.destroy()
  }

  /** Stops the process of the service for some steps, so that it finds all their events at once afterwards. */
  async #freeze(): Promise<void> {
    process.kill(this.#target.pid, 'SIGSTOP')
    try {
      if (this.#random.chance(0.5)) await this.#floods.resets()
      for (let count = this.#random.below(FROZEN_STEPS_MAX); count > 0; count -= 1)
        await this.#one(this.#moves)
      await turn()
    } finally {
      process.kill(this.#target.pid, 'SIGCONT')
    }
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
