import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Db } from '@creel/core'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

/** Every kind of send that the service makes by itself. */
export const KINDS = ['plain', 'governed', 'alert', 'event', 'rehearsal'] as const
/** One of {@link KINDS}. */
export type Kind = (typeof KINDS)[number]
/** A value for each of {@link KINDS}. */
export type ByKind<Value> = Readonly<Record<Kind, Value>>

const Made = z.looseObject({ id: z.string() })
const Body = z.looseObject({
  challenge: z.string().optional(),
  eventId: z.string().optional(),
  event_kind: z.string().optional(),
  request_id: z.int().nullish(),
})

/** A receiver that answers only as many messages as a test admits, and keeps the others waiting. */
export interface Gate extends Receiver {
  /** Answers so many further messages, those that wait first. */
  admit(count: number): void
  /** Ids of the requests whose messages have no answer, also of those whose sender has gone. */
  unanswered(): readonly number[]
  /** Ids of the requests whose messages have arrived, in the order of their arrival. */
  arrived(): readonly number[]
  /** The most messages whose senders have waited at the same time. */
  most(): number
  /** Status of the answer to the first send of each message, 200 unless it is set. Later ones get 200. */
  firstStatus: number
}

/** The requests of an endpoint, and the messages about them that reach a receiver. */
export interface Place {
  readonly kind: Kind
  readonly gate: Gate
  readonly endpoint: TestEndpoint
  /** Makes so many messages due. Returns the ids of their requests. */
  cause(count: number): Promise<readonly number[]>
  /** Number of messages whose results are recorded. */
  recorded(db: Db): Promise<number>
}

async function startGate(kind: Kind): Promise<Gate> {
  let admitted = 0
  const held = new Map<ServerResponse, number>()
  const arrived: number[] = []
  const open = new Set<ServerResponse>()
  let most = 0
  const answer = (response: ServerResponse, id: number) => {
    const isFirst = arrived.filter((other) => other === id).length === 1
    response.writeHead(isFirst ? gate.firstStatus : 200).end()
  }
  const receiver = await startReceiver((request, response) => {
    const body = kind === 'alert' || kind === 'event' ? Body.parse(JSON.parse(request.body.toString())) : {}
    if (body.challenge !== undefined) {
      response.end(JSON.stringify({ challenge: body.challenge }))
      return
    }
    const isOther = kind === 'alert' && body.event_kind !== 'action.notify'
    if (isOther) return void response.end()
    const id = Number(
      request.header('creel-request-id') ?? body.eventId?.slice('req_'.length) ?? body.request_id,
    )
    arrived.push(id)
    if (admitted > 0) {
      admitted -= 1
      return answer(response, id)
    }
    held.set(response, id)
    open.add(response)
    most = Math.max(most, open.size)
    response.on('close', () => open.delete(response))
  })
  const gate: Gate = Object.assign(receiver, {
    firstStatus: 200,
    unanswered: () => [...held.values()],
    arrived: () => arrived,
    most: () => most,
    admit(count: number) {
      admitted += count
      for (const [response, id] of held) {
        if (admitted === 0) return
        admitted -= 1
        held.delete(response)
        answer(response, id)
      }
    },
  })
  return gate
}

/** One place of each kind, in the workspace of a client. The messages of a rehearsal go through an action. */
export const openPlaces = (client: Client): Promise<ByKind<Place>> =>
  eachKind((kind) => openPlace(client, kind))

async function openPlace(client: Client, kind: Kind): Promise<Place> {
  const gate = await startGate(kind)
  const endpoint = await client.endpoint({ name: kind })
  const made = async (path: string, members: object) =>
    (await client.expect(client.post(path, members), Made)).id
  const capture = async (count: number) => (await endpoint.captureMany(count)).map(({ id }) => id)
  const forward = { kind: 'forward', url: gate.url }
  // A gate may be closed for longer than a send usually lasts.
  const patient = { timeoutSeconds: 300 }
  let cause = capture
  switch (kind) {
    case 'plain':
      await made(endpoint.at('/actions'), { ...forward, delivery: patient })
      break
    case 'governed':
      await made(endpoint.at('/actions'), { ...forward, delivery: { ...patient, order: { by: 'endpoint' } } })
      break
    case 'alert': {
      const alertChannelId = await made('/api/v1/alert-channels', {
        kind: 'webhook',
        name: 'Hook',
        settings: { url: gate.url },
      })
      await made(endpoint.at('/actions'), { kind: 'notify', name: 'Tell', alertChannelId })
      break
    }
    case 'event': {
      await client.expect(client.get('/api/v1/events/types'), z.looseObject({}))
      const secret = `whsec_${randomBytes(32).toString('base64')}`
      const delivery = { mode: 'webhook', url: gate.url, secret }
      await made('/api/v1/subscriptions', { name: `${kind}.any`, delivery })
      break
    }
    case 'rehearsal':
      cause = async (count) => {
        const requestIds = await capture(count)
        const actionId = await made(endpoint.at('/actions'), forward)
        const started = {
          select: { requestIds },
          to: { actionId },
          concurrency: 8,
          pace: { perSecond: 1000 },
        }
        await client.expect(client.post(endpoint.at('/replays'), started), z.looseObject({}))
        return requestIds
      }
  }
  return {
    kind,
    gate,
    endpoint,
    cause,
    async recorded(db) {
      const { rows } = await RECORDED[kind](endpoint.id).execute(db)
      return rows[0]?.count ?? 0
    },
  }
}

const attempts = (endpointId: string) =>
  sql<Count>`select count(*)::int as count from delivery_attempts
    where endpoint_id = ${endpointId} and state <> 'Pending'`

interface Count {
  readonly count: number
}

/** Statements that count the recorded results of an endpoint. */
const RECORDED: ByKind<typeof attempts> = {
  plain: attempts,
  governed: attempts,
  alert: attempts,
  event: (endpointId) =>
    sql<Count>`select count(*)::int as count from event_deliveries d join requests r on r.id = d.request_id
      where r.endpoint_id = ${endpointId} and d.attempts <> '[]' and d.leased_until is null`,
  rehearsal: (endpointId) =>
    sql<Count>`select count(*)::int as count from replay_items i join replays p on p.id = i.replay_id
      where p.endpoint_id = ${endpointId} and i.state in ('done', 'errored')`,
}

/** Does the same for each kind at the same time. */
export async function eachKind<Value>(run: (kind: Kind) => Promise<Value> | Value): Promise<ByKind<Value>> {
  const [plain, governed, alert, event, rehearsal] = await Promise.all([
    run('plain'),
    run('governed'),
    run('alert'),
    run('event'),
    run('rehearsal'),
  ])
  return { plain, governed, alert, event, rehearsal }
}
