import { randomBytes } from 'node:crypto'
import { contextOf, createCaller, type Services } from '@creel/core'
import { createOperatorCaller } from '@creel/core/operator'
import { planOf } from '@creel/core/plans'
import { sql } from 'kysely'

const WORKSPACE_NAME = 'default'
const NAME = 'first'

/** Lock by which only one of several processes greets on an empty database: "creel" in ASCII. */
const FIRST_BOOT_LOCK = 0x637265656c

/** Results of a first boot, to be shown once. */
export interface FirstBoot {
  readonly key: string
  readonly captureUrl: string
  /** A link that signs a browser in, once; null if there is no console. */
  readonly signInUrl: string | null
}

/**
 * Creates a workspace, a key and an endpoint if the database has no workspace yet, so that the first webhook can be
 * captured without another command.
 *
 * @returns undefined when there is a workspace already
 */
export async function firstBoot(services: Services, hasConsole: boolean): Promise<FirstBoot | undefined> {
  return services.db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${FIRST_BOOT_LOCK})`.execute(connection)
    try {
      return await greet(services, hasConsole)
    } finally {
      await sql`select pg_advisory_unlock(${FIRST_BOOT_LOCK})`.execute(connection)
    }
  })
}

async function greet(services: Services, hasConsole: boolean): Promise<FirstBoot | undefined> {
  const operator = createOperatorCaller(services)
  if ((await operator.workspaces.list()).length > 0) return undefined
  const workspace = await operator.workspaces.create({ name: WORKSPACE_NAME })
  const { key } = await operator.keys.create({ workspace: workspace.id, name: NAME })
  const [stored] = await operator.keys.list({ workspace: workspace.id })
  const caller = {
    workspace,
    callerId: stored?.id ?? '',
    key: { id: stored?.id ?? '', name: NAME, prefix: stored?.prefix ?? '', expiresAt: null },
    session: null,
    scope: 'admin',
    onlyEndpointId: null,
    address: null,
    actor: services.actor,
    plan: planOf(services.plans, workspace.plan),
  } as const
  const { signal } = new AbortController()
  const context = contextOf(services, caller, { signal, traceId: randomBytes(16).toString('hex') })
  const endpoint = await createCaller(context).endpoints.create({ name: 'My first endpoint' })
  const { captureUrl } = services.urls
  return {
    key,
    captureUrl: `${captureUrl}/hook/${endpoint.id}`,
    signInUrl: hasConsole ? (await operator.sessions.link({ workspace: workspace.id })).url : null,
  }
}
