import { z } from 'zod'
import type { StoredCapture, Target } from './target.ts'

const PAGE_SIZE = 100
const Page = z.looseObject({
  items: z.array(
    z.looseObject({
      id: z.number(),
      path: z.string(),
      sizeBytes: z.number(),
      bodyPreview: z.string().nullable(),
    }),
  ),
})

/** Captures that were sent whole, and those of them that were answered: each of the latter is stored exactly once. */
export class Ledger {
  readonly #target: Target
  /** Sent, and not found in a list yet. */
  readonly #sent = new Map<string, StoredCapture>()
  readonly #answered = new Set<string>()
  readonly #lastIds = new Map<string, number>()
  #found = 0

  constructor(target: Target) {
    this.#target = target
  }

  /** Captures that were found in lists. */
  get found(): number {
    return this.#found
  }

  /** From now on the capture may be stored. */
  note(capture: StoredCapture): void {
    this.#sent.set(capture.tag, capture)
  }

  /** From now on the capture must be stored. */
  noteAnswer(capture: StoredCapture): void {
    this.#answered.add(capture.tag)
  }

  /**
   * Reads the captures that were stored since the last check. To be called when no request is in flight.
   *
   * @returns complaints
   */
  async check(): Promise<readonly string[]> {
    const complaints: string[] = []
    for (const { id } of this.#target.endpoints) complaints.push(...(await this.#checkEndpoint(id)))
    for (const tag of this.#answered) complaints.push(`the capture ${tag} was answered and is not stored`)
    this.#answered.clear()
    return complaints
  }

  async #checkEndpoint(endpointId: string): Promise<readonly string[]> {
    const complaints: string[] = []
    const after = this.#lastIds.get(endpointId) ?? 0
    let last = after
    for (let page = 1; ; page += 1) {
      const path = `/api/v1/endpoints/${endpointId}/requests?afterId=${after}&pageSize=${PAGE_SIZE}&page=${page}`
      const { items } = Page.parse(await this.#target.call('GET', path))
      for (const item of items) {
        last = Math.max(last, item.id)
        const tag = item.path.slice(1)
        const sent = this.#sent.get(tag)
        this.#sent.delete(tag)
        this.#answered.delete(tag)
        this.#found += 1
        if (sent === undefined) complaints.push(`the capture ${tag} is stored twice, or was not sent whole`)
        else if (sent.endpointId !== endpointId) complaints.push(`the capture ${tag} is at another endpoint`)
        else if (sent.bytes !== item.sizeBytes) {
          complaints.push(`the capture ${tag} has ${item.sizeBytes} bytes in place of ${sent.bytes}`)
        } else if (item.sizeBytes > tag.length && item.bodyPreview?.includes(tag) !== true) {
          complaints.push(`the capture ${tag} has another body`)
        }
      }
      if (items.length < PAGE_SIZE) break
    }
    this.#lastIds.set(endpointId, last)
    return complaints
  }
}
