import { z } from 'zod'
import type { Client } from '../../support/client.ts'
import { type SeenAnswer, type SentRequest, sendRaw } from '../../support/sender.ts'
import { startService, type TestService } from '../../support/service.ts'

/** The public capture URL, whose host differs from the one that the service listens on, as behind a proxy. */
const PUBLIC_URL = 'https://in.example.test'

/** Starts a service without the limits that many captures would reach. */
export function startVerificationService(): Promise<TestService> {
  return startService({
    captureUrl: PUBLIC_URL,
    limits: { apiRatePerMinute: 1_000_000, endpointsMax: 1_000_000, captureRatePerMinute: 1_000_000 },
  })
}

const Captured = z.looseObject({
  id: z.int(),
  label: z.string().nullable(),
  verification: z.strictObject({ verdict: z.string(), note: z.string() }).nullable(),
})

export interface Evaluated {
  readonly answer: SeenAnswer
  readonly verdict: string | null
  readonly note: string | null
  readonly label: string | null
}

/** A sender and its endpoint. */
export interface Subject {
  readonly id: string
  /** The public URL of the endpoint. */
  readonly publicUrl: string
  /** Sends to the service, and reads what it stored. */
  send(sent: Sent, receivedAt?: Date | null): Promise<Evaluated>
  /** Sends several, one after the other. */
  sendAll(several: readonly (readonly [sent: Sent, receivedAt: Date])[]): Promise<readonly Evaluated[]>
}

/** A request; `suffix` follows the capture URL. */
type Sent = SentRequest & { readonly suffix?: string }

/** Makes an endpoint with these settings. */
export async function subject(
  { clock, baseUrl }: TestService,
  client: Client,
  settings: Readonly<Record<string, unknown>>,
): Promise<Subject> {
  const endpoint = await client.endpoint(settings)
  const page = z.looseObject({ items: z.array(Captured) })
  const sendAll: Subject['sendAll'] = async (several) => {
    const answers: SeenAnswer[] = []
    for (const [{ suffix = '', ...sent }, receivedAt] of several) {
      const url = `${baseUrl}/hook/${endpoint.id}${suffix}`
      answers.push(await clock.at(receivedAt, () => sendRaw(url, sent)))
    }
    const path = endpoint.at(`/requests?pageSize=${several.length}`)
    const stored = (await client.expect(client.get(path), page)).items.reverse()
    return answers.map((answer, index) => {
      const row = stored[index]
      if (row === undefined) throw new Error(`Nothing was stored; the sender saw ${answer.status}.`)
      const { verification, label } = row
      return { answer, verdict: verification?.verdict ?? null, note: verification?.note ?? null, label }
    })
  }
  return {
    id: endpoint.id,
    publicUrl: endpoint.url,
    sendAll,
    async send(sent, receivedAt = null) {
      const [evaluated] = await sendAll([[sent, receivedAt ?? clock.now()]])
      if (evaluated === undefined) throw new Error('Nothing was sent.')
      return evaluated
    },
  }
}
