import { createRandom, type Random } from '../faults/random.ts'
import { Asks } from './asks.ts'
import { type Bystander, startBystander } from './bystander.ts'
import { Ledger } from './ledger.ts'
import { type Holdings, holdingsOf, leftovers } from './leftovers.ts'
import { Population } from './population.ts'
import { useAllRoom } from './room.ts'
import { Steps } from './steps.ts'
import type { Target } from './target.ts'

/** Choices and length of a run. */
export interface StormOptions {
  /** Any 32-bit number. The same seed makes the same choices. */
  readonly seed: number
  /** The first round that ends after this time is the last one. */
  readonly seconds: number
  /** Time for everything to come to its end after a round; 180 by default. */
  readonly settleSeconds?: number
  /** Called at the end of each round. */
  readonly onRound?: (report: StormReport) => void
}

/** Result of a run. */
export interface StormReport {
  /** Everything that the model does not allow. Empty for a sound service. */
  readonly complaints: readonly string[]
  readonly rounds: number
  readonly steps: number
  readonly connections: number
  readonly answers: number
  /** Captures that were found where they must be. */
  readonly captures: number
  readonly bystanderAnswers: number
  /** After the first round, which warms up, and after the last. */
  readonly before: Holdings | undefined
  readonly after: Holdings | undefined
}

const STEPS_PER_ROUND = 1000
const SETTLE_SECONDS = 180
const LOOK_MS = 5
/** A broken service brings thousands of complaints. The first few say what is wrong. */
const COMPLAINTS_MAX = 6
/** Warnings of the service beside complaints: what it says of a 503, for example. */
const WARNINGS_MAX = 4

/**
 * Attacks a service with random interleavings of everything that connections can do, in rounds. At the end of a round
 * every connection is closed, and no resources may be left. A round with complaints is the last one.
 */
export async function storm(target: Target, options: StormOptions): Promise<StormReport> {
  const run = new Run(target, options)
  const until = performance.now() + options.seconds * 1000
  let rounds = 0
  const report = (): StormReport => ({ ...run.report, rounds })
  try {
    while (run.isSound && (rounds === 0 || performance.now() < until)) {
      await run.round()
      rounds += 1
      options.onRound?.(report())
    }
    await run.finish()
  } finally {
    await run.clear()
  }
  return report()
}

class Run {
  readonly #target: Target
  readonly #settleMs: number
  readonly #random: Random
  readonly #ledger: Ledger
  readonly #population: Population
  readonly #asks: Asks
  readonly #steps: Steps
  readonly #complaints: string[] = []
  readonly #warnings: string[] = []
  readonly #dead: Promise<void>
  #isDead = false
  #logRead = 0
  #bystanderAnswers = 0
  #before: Holdings | undefined
  #after: Holdings | undefined

  constructor(target: Target, { seed, settleSeconds = SETTLE_SECONDS }: StormOptions) {
    this.#settleMs = settleSeconds * 1000
    this.#target = target
    this.#random = createRandom(seed)
    this.#ledger = new Ledger(target)
    this.#population = new Population(target.port, this.#ledger, (complaint) => this.complain(complaint))
    this.#asks = new Asks(this.#random, target)
    this.#steps = new Steps(this.#random, this.#asks, this.#population, target)
    this.#dead = target.exited.then((code) => {
      this.#isDead = true
      this.complain(`the service ended with ${code}`)
    })
  }

  get isSound(): boolean {
    return this.#complaints.length === 0
  }

  get report() {
    return {
      complaints: this.isSound
        ? []
        : [...this.#complaints.slice(0, COMPLAINTS_MAX), ...this.#warnings.slice(-WARNINGS_MAX)],
      steps: this.#steps.taken,
      connections: this.#population.dialled,
      answers: this.#population.answers,
      captures: this.#ledger.found,
      bystanderAnswers: this.#bystanderAnswers,
      before: this.#before,
      after: this.#after,
    }
  }

  complain(complaint: string): void {
    if (this.#complaints.length < COMPLAINTS_MAX) this.#complaints.push(complaint)
  }

  async round(): Promise<void> {
    const bystander = startBystander(this.#target)
    await this.#whileAlive(this.#steps.take(STEPS_PER_ROUND))
    this.#endAll()
    await this.#settle()
    // Its resources must be released before the service is measured.
    await this.#whileAlive(this.#dismiss(bystander))
    await this.#whileAlive(this.#check())
  }

  /** Checks once more whether an earlier connection still counts for an address. */
  async finish(): Promise<void> {
    if (!this.isSound) return
    await this.#whileAlive(useAllRoom(this.#asks, this.#population, () => this.#settle()))
    if (this.isSound) await this.#whileAlive(this.#check())
  }

  /** Closes everything, and reads the log: an error of the service may be the cause of all complaints. */
  async clear(): Promise<void> {
    this.#readLog()
    await this.#population.clear()
  }

  async #dismiss(bystander: Bystander): Promise<void> {
    for (const complaint of await bystander.stop()) this.complain(complaint)
    this.#bystanderAnswers += bystander.answered
  }

  /** Ends some connections at once. The others send the rest of their request, and read. */
  #endAll(): void {
    for (const connection of this.#population.open) {
      const choice = this.#random.below(100)
      if (choice < 8) connection.reset()
      else if (choice < 15) connection.destroy()
      else {
        connection.resume()
        if (choice < 40) connection.halfClose()
        else connection.send()
      }
    }
  }

  /** Resolves when each connection has its answers and is closed, or the service has ended. */
  async #settle(): Promise<void> {
    const until = performance.now() + this.#settleMs
    while (this.#population.open.size > 0 && !this.#isDead && this.isSound) {
      for (const connection of this.#population.open) {
        if (!connection.isSettled) continue
        if (connection.isEndless) connection.destroy()
        else connection.halfClose()
      }
      if (performance.now() > until) {
        for (const connection of this.#population.open) {
          this.complain(`a connection did not come to its end: ${connection.describe()}`)
        }
        return
      }
      this.#readLog()
      await Bun.sleep(LOOK_MS)
    }
  }

  async #check(): Promise<void> {
    if (!this.isSound) return
    const first = await holdingsOf(this.#target)
    const before = this.#before ?? first
    const until = performance.now() + this.#settleMs
    for (let now = first; ; now = await holdingsOf(this.#target)) {
      this.#after = now
      const left = leftovers(before, now)
      if (left.length === 0) break
      if (performance.now() > until) return this.complain(`left behind: ${left.join(', ')}`)
      await Bun.sleep(LOOK_MS * 20)
    }
    this.#before ??= this.#after
    for (const complaint of await this.#ledger.check()) this.complain(complaint)
    this.#readLog()
  }

  #readLog(): void {
    const lines = this.#target.log().slice(this.#logRead).split('\n')
    this.#logRead = this.#target.log().length
    const errors = lines.filter((line) => /"level":"(error|fatal)"/.test(line)).slice(0, COMPLAINTS_MAX)
    this.#complaints.unshift(...errors.map((line) => `the service logged ${line}`))
    const warnings = lines.filter(
      (line) => line.includes('"level":"warn"') && !line.includes('has no effect'),
    )
    this.#warnings.push(...warnings.map((line) => `the service warned ${line}`))
  }

  /** Waits for some work, which fails or never ends if the service has ended. */
  async #whileAlive(work: Promise<void>): Promise<void> {
    try {
      await Promise.race([work, this.#dead])
    } catch (error) {
      // The end of the service is noticed a little later than the failures that it causes.
      await Promise.race([this.#dead, Bun.sleep(1000)])
      if (!this.#isDead) throw error
    }
  }
}
