import { z } from 'zod'
import type { Client, TestEndpoint } from '../support/client.ts'
import type { TestService } from '../support/service.ts'

export const WATCHDOGS = '/api/v1/watchdogs'

export const Watchdog = z.strictObject({
  id: z.string(),
  endpointId: z.string(),
  endpointName: z.string(),
  name: z.string(),
  state: z.string(),
  active: z.boolean(),
  pausedByPlan: z.boolean(),
  match: z.unknown(),
  expectedIntervalSeconds: z.int(),
  graceSeconds: z.int(),
  armedAt: z.string(),
  lastMatchedAt: z.string().nullable(),
  lastMatchedRequestId: z.int().nullable(),
  dueAt: z.string().nullable(),
  alarmAt: z.string().nullable(),
  alarmedAt: z.string().nullable(),
  recoveredAt: z.string().nullable(),
  lastAlertedAt: z.string().nullable(),
  createdAt: z.string(),
  alertContactIds: z.array(z.string()),
})

export type Watchdog = z.output<typeof Watchdog>

/** Makes a watchdog with an interval of ten minutes and two minutes of grace by default. */
export function makeWatchdog(endpoint: TestEndpoint, members: object = {}): Promise<Watchdog> {
  const body = { endpointId: endpoint.id, expectedIntervalSeconds: 600, graceSeconds: 120, ...members }
  return endpoint.client.expect(endpoint.client.post(WATCHDOGS, body), Watchdog)
}

export function readWatchdog(client: Client, { id }: { id: string }): Promise<Watchdog> {
  return client.expect(client.get(`${WATCHDOGS}/${id}`), Watchdog)
}

export function putWatchdog(client: Client, { id }: { id: string }, members: object): Promise<Watchdog> {
  return client.expect(client.put(`${WATCHDOGS}/${id}`, members), Watchdog)
}

export function setActive(client: Client, { id }: { id: string }, active: boolean): Promise<Watchdog> {
  return client.expect(client.post(`${WATCHDOGS}/${id}/active`, { active }), Watchdog)
}

/** Checks every watchdog that is due, once. */
export function check(service: TestService): Promise<void> {
  return service.runJob('watchdogs.check', {})
}

/** Moves the clock forward, and checks. */
export async function pass(service: TestService, seconds: number): Promise<void> {
  await service.clock.advance(seconds * 1000)
  await check(service)
}

/** Kinds of the alerts raised about a watchdog, oldest first. */
export async function raised(service: TestService, { id }: { id: string }): Promise<string[]> {
  const rows = await service.db
    .selectFrom('alerts')
    .where('subjectId', '=', id)
    .orderBy('occurredAt')
    .select('eventKind')
    .execute()
  return rows.map((row) => row.eventKind)
}
