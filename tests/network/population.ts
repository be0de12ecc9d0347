import { HostileConnection } from './hostileConnection.ts'
import type { Ledger } from './ledger.ts'

/** All open hostile connections, with counts of their results. */
export class Population {
  readonly #port: number
  readonly #ledger: Ledger
  readonly #complain: (complaint: string) => void
  readonly #open = new Set<HostileConnection>()
  #dialled = 0
  #answers = 0
  #overflow: string | undefined

  constructor(port: number, ledger: Ledger, complain: (complaint: string) => void) {
    this.#port = port
    this.#ledger = ledger
    this.#complain = complain
  }

  /** Connections so far. */
  get dialled(): number {
    return this.#dialled
  }

  /** Requests that were answered as they should be, so far. */
  get answers(): number {
    return this.#answers
  }

  get open(): ReadonlySet<HostileConnection> {
    return this.#open
  }

  /** Opens a connection from this local address. */
  dial(from: string): HostileConnection {
    const connection = new HostileConnection(
      { port: this.#port, from },
      {
        onComplaint: this.#complain,
        onSent: ({ capture }) => {
          if (capture !== undefined) this.#ledger.note(capture)
        },
        onAnswer: ({ capture }, { status }) => {
          this.#answers += 1
          if (capture !== undefined && status < 300) this.#ledger.noteAnswer(capture)
        },
      },
    )
    this.#dialled += 1
    this.#open.add(connection)
    if (this.#overflow !== undefined) connection.allowEnd(this.#overflow)
    void connection.closed.then(() => this.#open.delete(connection))
    return connection
  }

  /** There are more connections than the service accepts. Until this ends, it may close any of them, also new ones. */
  beginOverflow(reason: string): void {
    this.#overflow = reason
    for (const connection of this.#open) connection.allowEnd(reason)
  }

  endOverflow(): void {
    this.#overflow = undefined
  }

  /** Closes all connections. */
  async clear(): Promise<void> {
    const all = [...this.#open]
    for (const connection of all) connection.destroy()
    await Promise.all(all.map(({ closed }) => closed))
  }
}
