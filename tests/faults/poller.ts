import { z } from 'zod'
import type { Client } from '../support/client.ts'

const Rows = z.object({ items: z.array(z.object({ id: z.int(), bodyPreview: z.string().nullable() })) })

/** A client that follows an endpoint by `afterId`, as the API's documentation describes. */
export interface Poller {
  /** Ids in the order in which they were seen. */
  readonly seen: readonly number[]
  /** Reads until there is nothing new, and ends. */
  stop(): Promise<void>
}

/** @param client called before every request, since its gateway may be gone */
export function startPoller(client: () => Client | undefined, endpointId: string): Poller {
  const seen: number[] = []
  let stopped = false

  /** @returns whether there was anything new; undefined without an answer */
  const look = async (): Promise<boolean | undefined> => {
    const path = `/api/v1/endpoints/${endpointId}/requests/await?timeoutSeconds=1&afterId=${seen.at(-1) ?? 0}`
    const answer = await client()
      ?.get(path)
      .catch(() => undefined)
    if (answer === undefined || (answer.status !== 200 && answer.status !== 204)) return undefined
    if (answer.status === 204) return false
    seen.push(z.looseObject({ id: z.int() }).parse(answer.body).id)
    return true
  }
  const following = (async () => {
    let isDone = false
    while (!isDone) {
      const isNew = await look()
      if (isNew === undefined) await Bun.sleep(20)
      isDone = stopped && isNew === false
    }
  })()
  return {
    seen,
    async stop() {
      stopped = true
      await following
    },
  }
}

/** Ids of stored requests by the number of their capture. Several ids are a capture that was stored twice. */
export async function storedNumbers(client: Client, endpointId: string): Promise<Map<number, number[]>> {
  const stored = new Map<number, number[]>()
  for (let page = 1; ; page += 1) {
    const answer = client.get(`/api/v1/endpoints/${endpointId}/requests?pageSize=100&page=${page}`)
    const { items } = await client.expect(answer, Rows)
    if (items.length === 0) return stored
    for (const { id, bodyPreview } of items) {
      const { number } = z.object({ number: z.int() }).parse(JSON.parse(bodyPreview ?? '{}'))
      stored.set(number, [...(stored.get(number) ?? []), id])
    }
  }
}
