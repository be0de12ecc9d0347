import { setTimeout as sleep } from 'node:timers/promises'
import { isPlainObject } from '@creel/core'
import { type McpServer, ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import { type CallAnswer, CreelError } from 'creel-client'
import { z } from 'zod'
import { EXTENSION, eventError, noSubscription, unsupported } from './eventErrors.ts'
import type { McpApi } from './mcpApi.ts'

/** Waits of a stream for events. Each ends with a heartbeat, so that none is over 20 s late. */
const HEARTBEAT_SECONDS = 20
/** Least time between two reads of a stream, which count against the budget of the key. */
const READ_PAUSE_MS = 500

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const Envelope = z.looseObject({ [CLIENT_CAPABILITIES]: z.unknown().optional() })
const Declared = z.looseObject({ extensions: z.looseObject({ [EXTENSION]: z.unknown().optional() }) })

/** Parameters of a method that is a call of the API, which checks them and names all that is wrong. */
const Params = z.looseObject({})

/** Capabilities that offer the events: in both places where clients look. */
export const EVENT_CAPABILITIES = { events: {}, extensions: { [EXTENSION]: { listChanged: false } } } as const

export interface EventsOptions {
  /** Offers only what changes nothing. */
  readonly readOnly: boolean
  /** Resolves when the client of a stream has asked for more; absent where a write waits itself. */
  readonly asked?: (() => Promise<void>) | undefined
}

/** Adds the methods of the Events extension to a server. Each is a call of the API, so keys, scopes and budgets hold. */
export function addEvents(server: McpServer, api: McpApi, { readOnly, asked }: EventsOptions): void {
  const on = server.server
  const answered = async <Result>(ctx: ServerContext, call: () => Promise<Result>): Promise<Result> => {
    try {
      return await call()
    } catch (error) {
      throw eventError(error, { isDeclared: declaresEvents(server, ctx) })
    }
  }

  on.setRequestHandler(
    'events/list',
    { params: z.looseObject({ cursor: z.string().optional() }).optional() },
    (params, ctx) =>
      answered(ctx, async () => {
        const page = await api.call('events.types', { cursor: params?.cursor })
        const { nextCursor } = page
        const events = readOnly ? page.events.map(withoutWebhook) : page.events
        return nextCursor === null ? { events } : { events, nextCursor }
      }),
  )

  on.setRequestHandler('events/poll', { params: Params }, (params, ctx) =>
    answered(ctx, async () => {
      const { name, arguments: given, cursor, maxAgeMs, maxEvents } = params
      const page = await api.call('events.poll', { name, arguments: given, cursor, maxAgeMs, maxEvents })
      return { ...page, events: page.events.map(({ cursor: _own, ...event }) => event) }
    }),
  )

  on.setRequestHandler('events/stream', { params: Params }, (params, ctx) =>
    answered(ctx, () => stream(api, params, ctx, { isDeclared: declaresEvents(server, ctx), asked })),
  )

  if (!readOnly) addSubscriptions(server, api, (ctx) => declaresEvents(server, ctx))
}

function withoutWebhook<Type extends { readonly delivery: readonly string[] }>(type: Type): Type {
  return { ...type, delivery: type.delivery.filter((mode) => mode !== 'webhook') }
}

/** Whether the client says that it knows the extension; its codes follow from that. */
function declaresEvents(server: McpServer, ctx: ServerContext): boolean {
  const envelope = Envelope.safeParse(ctx.mcpReq.envelope)
  const capabilities = envelope.data?.[CLIENT_CAPABILITIES] ?? server.server.getClientCapabilities()
  const declared = Declared.safeParse(capabilities)
  return declared.success && declared.data.extensions[EXTENSION] !== undefined
}

/**
 * Sends events until the client hangs up, or its key may no longer read them. A refusal of the first read is the answer;
 * nothing is streamed then.
 */
async function stream(
  api: McpApi,
  { name, arguments: given, cursor, maxAgeMs }: z.output<typeof Params>,
  ctx: ServerContext,
  { isDeclared, asked }: { readonly isDeclared: boolean } & Pick<EventsOptions, 'asked'>,
) {
  const { signal } = ctx.mcpReq
  const _meta = { [SUBSCRIPTION_ID]: ctx.mcpReq.id }
  const say = async (kind: string, params: object) => {
    await ctx.mcpReq.notify({ method: `notifications/events/${kind}`, params: { ...params, _meta } })
    await asked?.()
  }
  const wanted = { name, arguments: given }
  const sayEvents = async ({ events }: CallAnswer<'events_poll'>) => {
    for (const event of events) {
      if (signal.aborted) return
      await say('event', { ...event, name })
    }
  }
  const first = await api.call('events.poll', { ...wanted, cursor, maxAgeMs })
  await say('active', {
    cursor: typeof cursor === 'string' ? cursor : first.cursor,
    truncated: first.truncated,
  })
  await sayEvents(first)
  let after = first.cursor
  while (!signal.aborted) {
    try {
      const page = await api.call('events.poll', { ...wanted, cursor: after, waitSeconds: HEARTBEAT_SECONDS })
      // A slow reader may be overtaken by what removes captures. Only this message can say so.
      if (page.truncated && !signal.aborted) await say('active', { cursor: after, truncated: true })
      await sayEvents(page)
      after = page.cursor
      if (!signal.aborted && page.events.length === 0) await say('heartbeat', { cursor: after })
    } catch (error) {
      if (signal.aborted) break
      const wait = error instanceof CreelError ? error.retryAfterSeconds : null
      if (wait !== null) {
        // Rate limited: wait, do not end the stream.
        await say('heartbeat', { cursor: after })
        await sleep(Math.min(wait, HEARTBEAT_SECONDS) * 1000, undefined, { signal }).catch(() => undefined)
        continue
      }
      const refused = eventError(error, { isDeclared })
      if (!(refused instanceof ProtocolError)) throw refused
      const { code, message, data } = refused
      await say('terminated', { error: { code, message, ...(data === undefined ? {} : { data }) } })
      break
    }
    await sleep(READ_PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
  return { _meta }
}

/**
 * Adds subscribing and unsubscribing of callbacks. Clients that declare the extension get its codes and its messages
 * `gap` and `terminated`; the others get those of its drafts, and events only.
 */
function addSubscriptions(server: McpServer, api: McpApi, declares: (ctx: ServerContext) => boolean): void {
  const on = server.server
  on.setRequestHandler('events/subscribe', { params: Params }, async (params, ctx) => {
    const isDeclared = declares(ctx)
    const { name, arguments: given, cursor, maxAgeMs, ttlMs, delivery } = params
    const { mode } = Object(delivery)
    if (isPlainObject(delivery) && mode !== 'webhook')
      throw unsupported('deliveryMode', mode ?? null, isDeclared)
    const input = { name, arguments: given, cursor, maxAgeMs, ttlMs, controls: isDeclared }
    try {
      const created = await api.call('subscriptions.create', { ...input, delivery })
      const { deliveryStatus, ...subscribed } = created
      return deliveryStatus === null
        ? subscribed
        : { ...subscribed, deliveryStatus: statusOf(deliveryStatus) }
    } catch (error) {
      throw eventError(error, { isDeclared })
    }
  })

  on.setRequestHandler('events/unsubscribe', { params: Params }, async (params, ctx) => {
    const isDeclared = declares(ctx)
    const { name, arguments: given, delivery } = params
    const { mode } = Object(delivery)
    if (mode !== undefined && mode !== 'webhook') throw unsupported('deliveryMode', mode, isDeclared)
    const input = { name, arguments: given, delivery }
    const { ended } = await api.call('subscriptions.unsubscribe', input).catch((error: unknown) => {
      throw eventError(error, { isDeclared, kind: 'subscription' })
    })
    if (!ended && isDeclared) throw noSubscription()
    return {}
  })
}

/** The status in the protocol's format: absent members instead of null, except `lastError`. */
function statusOf(status: NonNullable<CallAnswer<'subscriptions_create'>['deliveryStatus']>) {
  const { active, lastError, throttled, lastDeliveryAt, failedSince, retryAfterMs } = status
  return {
    active,
    lastError,
    throttled,
    ...(lastDeliveryAt === null ? {} : { lastDeliveryAt }),
    ...(failedSince === null ? {} : { failedSince }),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  }
}
