import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { CallAnswer } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { ClientError, givesMembers, usageError } from '../clientError.ts'
import { EXIT } from '../exitCodes.ts'
import { localTarget } from '../listen/localTarget.ts'
import { printHint, printJson, printText } from '../output/print.ts'
import { runLocally } from '../rehearse/localRun.ts'
import { isFine, StateWatch, summaryLines } from '../rehearse/summary.ts'
import { expectsIdempotence, type RehearseOptions, repeatWords, termsOf } from '../rehearse/terms.ts'
import { untilStopped } from '../screen/withView.ts'
import { type ClientOptions, ENDPOINT_WORDS, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { countOption, timeoutOption } from '../words.ts'
import { chooseItem } from './nounCommands.ts'
import { ACTIONS } from './nouns.ts'

interface Options extends ClientOptions, RehearseOptions {
  readonly to: string
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly junit?: string
  readonly md?: string
  readonly timeout?: number
  readonly skipVerify?: boolean
}

type Run = CallAnswer<'replays_get'>

const MEMBERS = {
  'select.requestIds': '--request',
  'select.sample': '--sample',
  'select.filter.label': '--label',
  'select.filter.since': '--since',
  'select.filter.until': '--until',
  'pace.speed': '--speed',
  'pace.perSecond': '--per-second',
  'compare.with': '--against',
  'compare.actionId': '--action',
  'compare.ignore': '--ignore',
  'to.url': '--to',
  timeoutSeconds: '--timeout',
}

const LOOK_EVERY_MS = 500
const TIMEOUT_MS = 60_000
const CANCEL_MS = 5_000
/** Differing sends that are read for the summary. */
const SHOWN = 20

export function addRehearseCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    givesMembers(command, MEMBERS)
      .argument('[endpoint]', ENDPOINT_WORDS)
      .requiredOption('--to <target>', 'a port or URL; path and query of captures are appended')
      .option('--since <when>', 'captures since, e.g. 7d, 2026-11-01')
      .option('--until <when>', 'captures until')
      .option('--label <label>', 'only this label; may end with *')
      .option('--sample <n>', 'at most so many, at random; default 500', countOption)
      .option('--request <ids...>', 'these requests, in place of a sample')
      .option('--order <order>', 'arrival or shuffled; default arrival')
      .option('--speed <factor>', 'multiple of the original pace', Number)
      .option('--per-second <n>', 'requests a second; default 50', Number)
      .option('--faults <faults>', 'duplicate, reorder, late, bad-signature, drop; a share as duplicate=0.1')
      .option('--seed <n>', 'the same seed gives the same rehearsal', Number)
      .option('--sign <signer>', 'as-captured, creel or provider; default as-captured')
      .option('--against <baseline>', 'recorded, first, or the id of a replay')
      .option(
        '--action <action>',
        'with --against recorded: the action whose answers count; default the only one',
      )
      .option('--ignore <paths...>', 'paths that may differ, e.g. headers.etag body.items[].id')
      .option('--expect <property>', 'idempotent: each is sent twice, the second answer must equal the first')
      .option(
        '--state-url <url>',
        'with --expect: a fingerprint of your state, which a repetition must not change',
      )
      .option('--concurrency <n>', 'requests in flight at once; default 1, strictly in order', countOption)
      .option('--timeout <span>', 'timeout for an answer; default 60s', timeoutOption)
      .option('--junit <file>', 'write the results as JUnit XML')
      .option('--md <file>', 'write the differences as Markdown')
      .option('--dry-run', 'only say what would be sent')
      .option('--yes', 'send to a server that is not on this machine')
      .option('--skip-verify', 'accept any TLS certificate of a local server'),
    {
      json: 'print the replay as one JSON object',
      examples: [
        'creel rehearse orders --to 3000 --since 7d --against recorded',
        "creel rehearse orders --to 3000 --label 'invoice.*' --faults duplicate,reorder --seed 42 --junit out.xml --against recorded",
        'creel rehearse orders --to 3000 --expect idempotent --state-url http://localhost:3000/state',
        'creel rehearse orders --to https://staging.example.com/hooks --yes --sample 50',
      ],
    },
  )
    .addHelpText(
      'after',
      '\nExits with 1 if answers differ, failed, could not be had, or none could be compared.',
    )
    .action(async (wanted: string | undefined, options: Options) => {
      const { hostname } = new URL(localTarget(options.to).url)
      const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
      if (options.stateUrl !== undefined && (!expectsIdempotence(options) || !isLocal))
        throw usageError(
          '--state-url needs --expect idempotent and a server on this machine.',
          'Leave it out.',
        )
      if (options.stateUrl !== undefined && (options.concurrency ?? 1) > 1)
        throw usageError(
          '--state-url tells nothing while several requests are in flight.',
          'Leave --concurrency out.',
        )
      termsOf(options)
      const api = await openApi(options, tools)
      const endpoint = await chooseEndpoint(api, wanted)
      const { action: wantedAction } = options
      const action =
        wantedAction === undefined
          ? undefined
          : await chooseItem(api, ACTIONS, { wanted: wantedAction, options: { endpoint: endpoint.id } })
      const terms = termsOf(options, action?.id)
      const to = isLocal
        ? { listeners: true as const }
        : { url: localTarget(options.to).url, appendPath: true }
      const timeoutMs = options.timeout ?? TIMEOUT_MS
      const start = { endpointId: endpoint.id, ...terms, to, timeoutSeconds: Math.ceil(timeoutMs / 1000) }
      const planned = await api.calls.replays.start({ ...start, dryRun: true })
      const { requestCount, matchedCount, sendCount, droppedCount, plannedMs, seed } = planned
      const plan = `${sendCount} sends of ${requestCount} requests (${matchedCount} match, ${droppedCount} dropped) to ${localTarget(options.to).url}, ${Math.ceil(plannedMs / 1000)} s, seed ${seed}`
      if (options.dryRun === true) {
        if (options.json === true) printJson(planned)
        else printText(plan, ...planned.shown.map(shownLine))
        return
      }
      if (!isLocal && options.yes !== true)
        throw new ClientError(`This would make ${plan}.`, [
          'That server is not on this machine. Add --yes if it is meant.',
        ])
      printHint(plan)
      const { replay } = await api.calls.replays.start({ ...start, seed })
      if (replay === null) throw new ClientError('The service started no replay.', [])
      const state = options.stateUrl === undefined ? undefined : new StateWatch(options.stateUrl)
      const run = await toItsEnd(
        api,
        { endpointId: endpoint.id, replayId: replay.id, isLocal },
        async (signal) => {
          const local = { options, state, tools, signal }
          const running = isLocal ? followLocally(api, endpoint.id, replay, local) : undefined
          return await ended(api, endpoint.id, replay, { running, signal })
        },
      )
      await writeReports(api, endpoint.id, run, options)
      const found = {
        run,
        differing: await differing(api, endpoint.id, run),
        stateChanges: state?.changes ?? [],
        again: (result: { readonly requestId: number; readonly fault: string | null }) =>
          [
            'creel rehearse',
            endpoint.id.slice(0, 8),
            `--to ${options.to}`,
            ...repeatWords(options, result, { ...run, select: terms.select }),
            ...(options.skipVerify === true ? ['--skip-verify'] : []),
          ].join(' '),
      }
      if (options.json === true) printJson(run)
      else printText(...summaryLines(found))
      if (!isFine(found)) process.exitCode = EXIT.failed
    })
}

function shownLine(send: CallAnswer<'replays_start'>['shown'][number]) {
  const { position, requestId, fault, method, path, error } = send
  return [`  ${position}`, `request ${requestId}`, `${method} ${path}`, fault, error]
    .filter((part) => part !== null)
    .join('  ')
}

/**
 * Follows a replay to its end. One that this command sends would never end without it, and takes one of the few places
 * of its workspace: it is cancelled when the command fails. A stop cancels one that the service sends, too.
 */
async function toItsEnd(
  { calls }: ApiClient,
  {
    endpointId,
    replayId,
    isLocal,
  }: Readonly<Record<'endpointId' | 'replayId', string>> & { isLocal: boolean },
  follow: (signal: AbortSignal) => Promise<Run>,
): Promise<Run> {
  return await untilStopped(async (stopped) => {
    const failed = new AbortController()
    try {
      return await follow(AbortSignal.any([stopped, failed.signal]))
    } catch (error) {
      failed.abort()
      if (!isLocal && !stopped.aborted) throw error
      const isCancelled = await calls.replays.cancel({ endpointId, replayId }, { timeoutMs: CANCEL_MS }).then(
        () => true,
        () => false,
      )
      if (!stopped.aborted) throw error
      throw new ClientError(
        isCancelled ? 'Stopped, and cancelled the replay.' : `Stopped. The replay ${replayId} may go on.`,
      )
    }
  })
}

interface Local {
  readonly options: Options
  readonly state: StateWatch | undefined
  readonly tools: TerminalTools
  readonly signal: AbortSignal
}

async function followLocally(
  api: ApiClient,
  endpointId: string,
  { id }: Run,
  { options, state, tools, signal }: Local,
): Promise<void> {
  const outbound = await tools.openOutbound(options.skipVerify === true)
  try {
    await runLocally({
      api,
      endpointId,
      replayId: id,
      target: options.to,
      outbound,
      concurrency: options.concurrency ?? 1,
      timeoutMs: options.timeout ?? TIMEOUT_MS,
      onAnswer: async (item) => state?.note(item),
      signal,
    })
  } finally {
    await outbound.close()
  }
}

/** Waits for the end of a replay, with a live line on a terminal. */
async function ended(
  { calls }: ApiClient,
  endpointId: string,
  started: Run,
  { running, signal }: { readonly running: Promise<void> | undefined; readonly signal: AbortSignal },
): Promise<Run> {
  let isOver = false
  const local = running?.finally(() => {
    isOver = true
  })
  local?.catch(() => undefined)
  let run = started
  let shown = ''
  while (run.finishedAt === null) {
    const pause = () => sleep(LOOK_EVERY_MS, undefined, { signal })
    await (isOver ? local : Promise.race([pause(), ...(local === undefined ? [] : [local])]))
    run = await calls.replays.get({ endpointId, replayId: started.id })
    const { done, errored, sends, changed, failed } = run.counts
    const words = `${done + errored} of ${sends}, ${changed + failed} differ`
    if (process.stderr.isTTY === true && words !== shown) printHint(words)
    shown = words
  }
  await local
  return run
}

async function differing({ calls }: ApiClient, endpointId: string, { id, counts }: Run) {
  const found = []
  const of = { endpointId, replayId: id, limit: SHOWN }
  if (counts.changed > 0) found.push(...(await calls.replays.results({ ...of, outcome: 'changed' })).items)
  if (counts.failed > 0) found.push(...(await calls.replays.results({ ...of, outcome: 'failed' })).items)
  if (counts.errored > 0) found.push(...(await calls.replays.results({ ...of, state: 'errored' })).items)
  return found.sort((one, other) => one.position - other.position)
}

async function writeReports(
  api: ApiClient,
  endpointId: string,
  { id }: Run,
  { junit, md }: Options,
): Promise<void> {
  for (const [format, file] of [
    ['junit', junit],
    ['md', md],
  ] as const) {
    if (file === undefined) continue
    const path = `/api/v1/endpoints/${endpointId}/replays/${id}/report?format=${format}`
    const answer = await api.pastOutages(() => api.creel.send(path, { method: 'GET' }))
    await writeFile(file, await answer.text())
  }
}
