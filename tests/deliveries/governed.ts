import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'

const WithId = z.looseObject({ id: z.string() })

/** Answer of the backlog route. */
export const BacklogView = z.object({
  waiting: z.int(),
  inFlight: z.int(),
  oldestWaitingAt: z.string().nullable(),
  keysWaiting: z.int(),
  keysHeld: z.array(
    z.object({
      key: z.string(),
      requestId: z.int(),
      attemptId: z.int().nullable(),
      since: z.string(),
    }),
  ),
  breaker: z.object({
    state: z.string(),
    openedAt: z.string().nullable(),
    nextProbeAt: z.string().nullable(),
  }),
  rate: z.object({ count: z.number(), perSeconds: z.int() }).nullable(),
  pausedAt: z.string().nullable(),
  notBefore: z.string().nullable(),
  drainsAt: z.string().nullable(),
  expiring: z.int(),
})

/** A forward action of a test, and the endpoint that it belongs to. */
export class GovernedAction {
  constructor(
    readonly client: Client,
    readonly endpoint: TestEndpoint,
    readonly id: string,
  ) {}

  at(path = ''): string {
    return this.endpoint.at(`/actions/${this.id}${path}`)
  }

  backlog() {
    return this.client.expect(this.client.get(this.at('/backlog')), BacklogView)
  }

  pause() {
    return this.client.expect(this.client.post(this.at('/pause')), z.looseObject({ pausedAt: z.string() }))
  }

  resume(perSecond?: number) {
    return this.client.expect(
      this.client.post(this.at('/resume'), perSecond === undefined ? {} : { perSecond }),
      z.looseObject({ pausedAt: z.null() }),
    )
  }

  put(members: object) {
    return this.client.expect(this.client.put(this.at(), members), z.looseObject({}))
  }

  /** Resolves when nothing of the action waits or is under way. */
  async isDone(): Promise<void> {
    await eventually('the end of the backlog', async () => {
      const { waiting, inFlight } = await this.backlog()
      return waiting + inFlight === 0
    })
  }
}

/** A forward action to `url`, treated as `delivery` says, of an endpoint that is new by default. */
export async function governedAction(
  client: Client,
  url: string,
  delivery?: object,
  of?: TestEndpoint,
): Promise<GovernedAction> {
  const endpoint = of ?? (await client.endpoint())
  const made = client.post(endpoint.at('/actions'), { kind: 'forward', url, delivery })
  const { id } = await client.expect(made, WithId)
  return new GovernedAction(client, endpoint, id)
}

/** Sends many webhooks, some at a time; each is stored when this returns. */
export async function sendAll(endpoint: TestEndpoint, bodies: readonly object[], atOnce = 25): Promise<void> {
  for (let sent = 0; sent < bodies.length; sent += atOnce) {
    const answers = await Promise.all(
      bodies.slice(sent, sent + atOnce).map((body) => endpoint.send({ body: JSON.stringify(body) })),
    )
    for (const answer of answers) {
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`A capture was answered ${answer.status}.`)
    }
  }
}

/** `count` numbered bodies, of `keys` keys in turn. */
export function numbered(count: number, keys = 1): { readonly n: number; readonly key: string }[] {
  return Array.from({ length: count }, (_, n) => ({ n, key: `k${n % keys}` }))
}
