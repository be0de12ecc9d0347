import { setTimeout as sleep } from 'node:timers/promises'
import { type TrackedEnvelope, tracked } from '@trpc/server'
import { z } from 'zod'
import { Download, type EventOf, type Finds } from '../api/contract.ts'
import { createdCursor, pageByTime } from '../api/cursors.ts'
import { foundById } from '../api/errors.ts'
import { envelope, paged } from '../api/pagination.ts'
import { requireFeature } from '../api/planGates.ts'
import { get, post, router, stream } from '../api/route.ts'
import { type EndpointRow, findsEndpoint } from '../endpoints/index.ts'
import { type Db, valuesOf } from '../platform/db/index.ts'
import { type OpenStream, openStream } from '../streams/index.ts'
import { checkStart } from './check.ts'
import { type Change, changeState } from './control.ts'
import { countItems, findRun, type RunRow, replaysOf } from './queries.ts'
import { listResults, reportOf } from './report.ts'
import {
  answerInput,
  followEvents,
  getInput,
  listInput,
  ReplayResults,
  ReplayRun,
  reportInput,
  resultsInput,
  Started,
  startInput,
  Taken,
  takeInput,
} from './schema.ts'
import { startReplay } from './start.ts'
import { answerItem, takeItems } from './take.ts'
import { readView, runView } from './view.ts'

const findsReplay: Finds<{ endpoint: EndpointRow; replay: RunRow }> = async (ctx, ids) => {
  const { endpoint } = await findsEndpoint(ctx, ids)
  const find = (id: string) => findRun(ctx.db, endpoint.id, id.toLowerCase())
  return { endpoint, replay: await foundById(ids.replayId, 'replay', find) }
}

/** A route that changes the state of a replay. */
const changeRoute = <Verb extends Change>(verb: Verb, summary: string, description: string) =>
  post(`/api/v1/endpoints/{endpointId}/replays/{replayId}/${verb}`, {
    summary,
    description,
    input: getInput,
    output: ReplayRun,
    errors: ['validation_failed'],
    finds: findsReplay,
  }).mutation(({ ctx }) => changeState(ctx, ctx.endpoint, ctx.replay, verb))

export const replayRunRoutes = router({
  start: post('/api/v1/endpoints/{endpointId}/replays', {
    summary: 'Start a replay of many captured requests',
    description:
      'Sends the chosen requests again, in the background, at their pace: through an action, to a URL, or to a listener. Faults, an edit and another signature are possible; answers are compared with a baseline. Every request carries `creel-rehearsal: <id of the replay>`. With `dryRun` the answer shows what would be sent, and nothing is sent. The newest 20 replays of a workspace that have ended are kept, and 20 of one request.',
    input: startInput,
    example: {
      select: { filter: { label: 'invoice.*', since: '2026-11-16' }, sample: 500 },
      to: { url: 'https://staging.acme.dev/hooks' },
      pace: { speed: 10 },
      faults: { duplicate: 0.1 },
      seed: 42,
      compare: { with: 'recorded', ignore: ['body.id'] },
    },
    output: Started,
    status: 202,
    errors: ['feature_not_in_plan'],
    finds: findsEndpoint,
    gate: (ctx) => requireFeature(ctx.plan, 'bulkReplay'),
    check: checkStart,
  }).mutation(({ ctx, input }) => startReplay(ctx, ctx.endpoint, input)),

  list: get('/api/v1/endpoints/{endpointId}/replays', {
    summary: 'List replays of many requests, newest first',
    input: listInput,
    output: envelope(ReplayRun),
    finds: findsEndpoint,
  }).query(async ({ ctx, input }) => {
    const found = await pageByTime(replaysOf(ctx.db, ctx.endpoint.id), ['createdAt', 'id'], input)
    const counts = await countItems(ctx.db, valuesOf(found.rows, 'id'))
    return paged(found, input, { view: (row) => runView(row, counts), cursorOf: createdCursor('replays') })
  }),

  get: get('/api/v1/endpoints/{endpointId}/replays/{replayId}', {
    summary: 'Read a replay of many requests, also while it runs',
    input: getInput,
    output: ReplayRun,
    finds: findsReplay,
  }).query(({ ctx }) => readView(ctx.db, ctx.replay)),

  pause: changeRoute('pause', 'Pause a replay of many requests', 'A send that is under way ends.'),
  resume: changeRoute(
    'resume',
    'Resume a paused replay of many requests',
    'It goes on at its pace, from the next request.',
  ),
  cancel: changeRoute('cancel', 'End a replay of many requests for good', 'Its results stay.'),

  results: get('/api/v1/endpoints/{endpointId}/replays/{replayId}/results', {
    summary: 'List the sends of a replay with their outcomes, in their order',
    input: resultsInput,
    output: ReplayResults,
    finds: findsReplay,
  }).query(({ ctx, input }) => listResults(ctx.db, ctx.replay.id, input)),

  report: get('/api/v1/endpoints/{endpointId}/replays/{replayId}/report', {
    summary: 'Read the results of a replay as JUnit XML or Markdown',
    input: reportInput,
    output: Download,
    media: { gives: ['application/xml', 'text/markdown'] },
    finds: findsReplay,
  }).query(({ ctx, input }) => reportOf(ctx.db, ctx.replay, input.format)),

  take: post('/api/v1/endpoints/{endpointId}/replays/{replayId}/take', {
    summary: 'Take the requests of a replay that are due, to send them from here',
    description:
      'For a replay with `to.listeners`; `creel rehearse` does so. Report each with `answer`. A request that is not answered within `timeoutSeconds` (60 if the replay names none) and 30 s more is given again.',
    input: takeInput,
    example: { max: 1, waitSeconds: 20 },
    output: Taken,
    errors: ['validation_failed', 'rate_limited'],
    finds: findsReplay,
  }).mutation(({ ctx, input }) => takeItems(ctx, ctx.endpoint, ctx.replay, input)),

  answer: post('/api/v1/endpoints/{endpointId}/replays/{replayId}/answer', {
    summary: 'Report the answer to a request of a replay that was taken',
    input: answerInput,
    example: {
      position: 1,
      durationMs: 12,
      received: { statusCode: 200, headers: [{ name: 'Content-Type', value: 'text/plain' }], body: 'b2s=' },
    },
    output: z.null(),
    finds: findsReplay,
  }).mutation(({ ctx, input }) => answerItem(ctx, ctx.endpoint, ctx.replay, input)),

  follow: stream('/api/v1/endpoints/{endpointId}/replays/{replayId}/stream', {
    summary: 'Follow the progress of a replay, to its end',
    input: getInput,
    events: followEvents,
    finds: findsReplay,
  }).subscription(({ ctx }) =>
    openStream(ctx, async (open) => followReplay(ctx.db, ctx.endpoint, ctx.replay, open)),
  ),
})

/** Time between two looks. */
const POLL_MS = 500

type Progress = TrackedEnvelope<EventOf<typeof followEvents>>

/** Tells the progress of a replay: at once, at each change, and at its end, which ends the stream. */
async function* followReplay(
  db: Db,
  endpoint: EndpointRow,
  { id }: RunRow,
  { ended, throwIfRefused }: OpenStream,
): AsyncGenerator<Progress, void> {
  let said = ''
  let looks = 0
  while (!ended.aborted) {
    const row = await findRun(db, endpoint.id, id)
    if (row === undefined) return
    const progress: z.output<typeof ReplayRun> = ReplayRun.parse(await readView(db, row))
    const text = JSON.stringify(progress)
    if (text !== said) {
      said = text
      looks += 1
      yield tracked(String(looks), { kind: 'progress', ...progress })
    }
    const { state, reason } = progress
    if (row.finishedAt !== null) {
      yield tracked(String(looks + 1), { kind: 'ended', state, reason })
      return
    }
    await sleep(POLL_MS, undefined, { signal: ended }).catch(() => undefined)
  }
  throwIfRefused()
}
