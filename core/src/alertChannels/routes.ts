import { z } from 'zod'
import { EVENTS, SUBSCRIBABLE_KINDS } from '../alerts/index.ts'
import { createdCursor, idCursor, pageByTime, timeCursorInput } from '../api/cursors.ts'
import { envelope, paged, pageInput } from '../api/pagination.ts'
import { hasFeature, requireFeature } from '../api/planGates.ts'
import { get, post, put, remove, router } from '../api/route.ts'
import { recordChange } from '../audit/index.ts'
import type { Plan } from '../plans/index.ts'
import { channelOf, channelView } from './channel.ts'
import { checkChannelChange, checkConnected, checkNewChannel } from './check.ts'
import { CHANNEL_KIND_NAMES, channelKind } from './kinds/index.ts'
import { channelRows, deleteChannel, findsChannel } from './queries.ts'
import { changeChannel, channelChange, createChannel } from './save.ts'
import {
  AlertChannel,
  AlertChannelKind,
  AlertDelivery,
  AlertEvent,
  createInput,
  historyInput,
  TestResult,
  updateInput,
} from './schema.ts'
import { listHistory } from './sending/queries.ts'
import { testChannel } from './testChannel.ts'

const id = z.string().meta({ format: 'uuid', description: 'Id of the alert channel' })

const eventList = {
  summary: 'List the event kinds that a channel can subscribe to',
  input: z.object({}),
  narrows: true,
  output: z.object({ items: z.array(AlertEvent) }),
} as const

const listEvents = () => ({
  items: SUBSCRIBABLE_KINDS.map((kind) => ({ kind, ...EVENTS[kind] })),
})

/** Manage and test alert channels; list their kinds, the events and the history of sends. */
export const alertChannelRoutes = router({
  list: get('/api/v1/alert-channels', {
    summary: 'List alert channels, newest first',
    input: z.object({ ...pageInput, ...timeCursorInput('alertChannels') }),
    output: envelope(AlertChannel),
  }).query(async ({ ctx, input }) => {
    const found = await ctx.reads.run(({ db }) =>
      pageByTime(channelRows(db, ctx.workspace.id), ['createdAt', 'id'], input),
    )
    return paged(found, input, {
      view: (row) => channelView(channelOf(row, ctx.secrets)),
      cursorOf: createdCursor('alertChannels'),
    })
  }),

  create: post('/api/v1/alert-channels', {
    summary: 'Add an alert channel, untested; follow with test',
    input: createInput,
    example: {
      kind: 'webhook',
      name: 'Ops',
      settings: { url: 'https://ops.acme.dev/alerts' },
      events: [{ kind: 'delivery.parked', minSeverity: 'error' }],
    },
    output: AlertChannel,
    status: 201,
    errors: ['feature_not_in_plan', 'limit_reached'],
    gate: ({ plan }) => requireFeature(plan, 'alertChannels'),
    check: checkNewChannel,
  }).mutation(({ ctx, input }) => createChannel(ctx, input)),

  kinds: get('/api/v1/alert-channels/kinds', {
    summary: 'List the kinds of channel that this workspace can add',
    input: z.object({}),
    narrows: true,
    output: z.object({ items: z.array(AlertChannelKind) }),
  }).query(({ ctx }) => ({ items: kindsOf(ctx.plan) })),

  events: get('/api/v1/alert-channels/events', eventList).query(listEvents),

  /** Alias of the `events` list. */
  eventKinds: get('/api/v1/alert-channels/event-kinds', {
    ...eventList,
    description: 'Alias of `/api/v1/alert-channels/events`.',
  }).query(listEvents),

  deliveries: get('/api/v1/alert-channels/deliveries', {
    summary: 'List the alerts sent in the last 30 days, newest first',
    input: historyInput,
    output: envelope(AlertDelivery),
  }).query(async ({ ctx, input }) => {
    const of = { workspaceId: ctx.workspace.id, now: ctx.clock.now() }
    const found = await ctx.reads.run(({ db }) => listHistory(db, of, input))
    return paged(found, input, { view: (row) => row, cursorOf: (row) => idCursor('alertDeliveries', row.id) })
  }),

  get: get('/api/v1/alert-channels/{id}', {
    summary: 'Read an alert channel',
    input: z.object({ id }),
    output: AlertChannel,
    finds: findsChannel,
  }).query(({ ctx }) => channelView(ctx.channel)),

  update: put('/api/v1/alert-channels/{id}', {
    summary: 'Change the named members of an alert channel',
    description: 'Omit `secret` to keep the credential. Another credential or setting makes it untested.',
    input: updateInput,
    example: { enabled: false },
    output: AlertChannel,
    finds: findsChannel,
    check: (ctx, input) => checkChannelChange(ctx, ctx.channel, input),
  }).mutation(({ ctx, input }) => changeChannel(ctx, ctx.channel.id, input)),

  remove: remove('/api/v1/alert-channels/{id}', {
    summary: 'Delete an alert channel; its history and its actions stay',
    input: z.object({ id }),
    output: z.null(),
    finds: findsChannel,
  }).mutation(async ({ ctx }) => {
    await ctx.db.transaction().execute(async (trx) => {
      await deleteChannel(trx, ctx.channel.id)
      await recordChange(trx, ctx, channelChange('alertChannels.remove', ctx.channel, null))
    })
    return null
  }),

  test: post('/api/v1/alert-channels/{id}/test', {
    summary: 'Send a real message, also when the channel is off or muted',
    description: "A rejected send is 200 with `delivered: false` and the provider's words in `detail`.",
    input: z.object({ id }),
    output: TestResult,
    finds: findsChannel,
    check: (ctx) => checkConnected(ctx.channel),
  }).mutation(({ ctx }) => testChannel(ctx, ctx.channel)),
})

/** The kinds that can be added; none on a plan without channels. */
function kindsOf(plan: Plan): z.input<typeof AlertChannelKind>[] {
  if (!hasFeature(plan, 'alertChannels')) return []
  return CHANNEL_KIND_NAMES.map((kind) => {
    const { fields, ...described } = channelKind(kind)
    return {
      kind,
      ...described,
      fields: fields.map((field) => ({ ...field, options: field.options && [...field.options] })),
    }
  })
}
