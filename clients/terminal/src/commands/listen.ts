import { isUtf8 } from 'node:buffer'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { ApiClient } from '../api/apiClient.ts'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { openRelay } from '../api/relay.ts'
import { ClientError, usageError } from '../clientError.ts'
import { NoService } from '../connection/connection.ts'
import { openCheckpoint } from '../listen/checkpoint.ts'
import { FILTER_OPTION, readFilter } from '../listen/filter.ts'
import { type ListenerOptions, listen } from '../listen/listener.ts'
import { createLocalSender, type LocalMessage, type LocalSender } from '../listen/localSender.ts'
import { findStart } from '../listen/start.ts'
import type { Shown } from '../listen/view.ts'
import { printHint } from '../output/print.ts'
import { withView } from '../screen/withView.ts'
import { type ClientOptions, ENDPOINT_WORDS, openApi, withClientOptions } from '../session.ts'
import type { QuickService, TerminalTools } from '../tools.ts'
import { countOption, timeoutOption } from '../words.ts'

interface ListenOptions extends ClientOptions {
  readonly to: string
  readonly relay?: string
  readonly since?: string
  readonly concurrency?: number
  readonly filter?: readonly string[]
  readonly plain?: boolean
  readonly report?: boolean
  readonly retry?: boolean
  readonly skipVerify?: boolean
  readonly write: boolean
  readonly timeout?: number
}

export function addListenCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .argument('[endpoint]', ENDPOINT_WORDS)
      .requiredOption('--to <target>', 'local server: a port, or a URL to which path and query are appended')
      .option(
        '--relay <url>',
        'get a public capture URL from a relay (`creel relay`), without a service or a key',
      )
      .option(
        '--since <when>',
        'start at an id, 10m, 2026-11-01, now, last or start; default where it stopped, else now',
      )
      .option('--concurrency <n>', 'requests in flight at once; default 1, strictly in order', countOption)
      .option('--plain', 'print lines, also on a terminal')
      .option(...FILTER_OPTION)
      .option('--retry', 'repeat until the local server answers')
      .option('--report', 'record answers to captures as delivery attempts, as is done for replays')
      .option('--timeout <span>', 'timeout for an answer; default 60s', timeoutOption)
      .option('--skip-verify', 'accept any TLS certificate of the local server')
      .option('--no-write', 'only show captures: send nothing, save no position'),
    {
      json: 'print one JSON object per line, each with "event"',
      examples: [
        'creel listen --to 3000',
        'creel listen --relay https://hooks.example.com --to 3000',
        'creel listen orders --to http://localhost:3000/hooks --since 1h',
        `creel listen orders --to 3000 --filter 'label:order.paid'`,
        `creel listen orders --to 3000 --filter '{"path":"body.amount","op":"gt","value":100}'`,
      ],
    },
  ).action(async (wanted: string | undefined, options: ListenOptions) => {
    const sender = createLocalSender({
      target: options.to,
      skipVerify: options.skipVerify === true,
      openOutbound: tools.openOutbound,
      ...(options.timeout === undefined ? {} : { answerMilliseconds: options.timeout }),
    })
    let quick: QuickService | undefined
    try {
      if (options.relay !== undefined) {
        const { api, endpointId } = await endpointOfRelay(options.relay, wanted, options)
        return await run(endpointId, options, { api, sender, tools })
      }
      const api = await openApi(options, tools).catch(async (error: unknown) => {
        if (!(error instanceof NoService)) throw error
        quick = await serviceOfOurOwn(tools)
        // The key of the environment is for another service.
        return await openApi({ ...options, url: quick.url }, tools, { ...process.env, CREEL_KEY: undefined })
      })
      await run(wanted, options, { api, sender, tools })
    } finally {
      await sender.close()
      await quick?.close()
    }
  })
}

/** Gets the endpoint of a relay, and tells until when it lives. */
async function endpointOfRelay(relay: string, wanted: string | undefined, { url, key }: ListenOptions) {
  if (wanted !== undefined || url !== undefined || key !== undefined) {
    throw usageError('A relay gives its own endpoint and key: --relay takes no endpoint, --url or --key.')
  }
  const relayed = await openRelay(relay, process.env)
  const hours = Math.round(relayed.idleSeconds / 360) / 10
  printHint(
    `The capture URL works until ${new Date(relayed.expiresAt).toISOString().slice(0, 16).replace('T', ' ')} UTC, or ${hours} h after its last use. Its terms: ${relayed.api.connection.url}/`,
  )
  return relayed
}

/** Starts a service in this process, for the duration of the command, when no service of the user runs. */
async function serviceOfOurOwn(tools: TerminalTools): Promise<QuickService> {
  printHint('No service runs on this machine. Starting one that ends with this command.')
  const quick = await tools.startQuickService(process.env, { logLevel: 'fatal', handlesSignals: false })
  printHint(
    `It listens on ${quick.url} and stores its data in ${quick.dataDir}. \`creel\` starts a lasting one.`,
  )
  return quick
}

async function run(
  wanted: string | undefined,
  options: ListenOptions,
  { api, sender, tools }: { api: ApiClient; sender: LocalSender; tools: TerminalTools },
): Promise<void> {
  const filter = await readFilter(options.filter ?? [], tools)
  const endpoint = await chooseEndpoint(api, wanted, { onlyReads: true })
  const of = { serviceUrl: api.connection.url, endpointId: endpoint.id, target: sender.url }
  const listenerName = `${hostname()} ${sender.url}`.slice(0, 64)
  const checkpoint = openCheckpoint(process.env, of)
  const start = await findStart(api, endpoint.id, {
    since: options.since,
    stored: checkpoint.read(),
    filters: filter.query,
  })
  const reporter = createReporter(api, listenerName, { captures: options.report === true })
  const listenerOptions: Omit<ListenerOptions, 'view' | 'signal'> = {
    api,
    endpoint,
    start,
    filter,
    sender: options.write ? sender : null,
    checkpoint: options.write ? checkpoint : null,
    concurrency: options.concurrency ?? 1,
    retry: options.retry === true,
    // A viewer takes no replays.
    ...(options.write ? { listenerName } : {}),
    onAnswered: reporter.take,
  }
  await withView(options, { api, sender: listenerOptions.sender, tools }, (view, signal) =>
    listen({ ...listenerOptions, view, signal }),
  )
  checkpoint.close()
  const droppedCount = await reporter.finish()
  if (droppedCount > 0) printHint(`${droppedCount} answers of the local server were not recorded.`)
}

/** Bytes of an answer's body in a report. */
const REPORTED_BYTES = 65_536

/** Answers that may wait to be reported; further ones are dropped. */
const WAITING_MAX = 1_000
const REPORT_MILLISECONDS = 30_000
/** Wait for pending reports when listening ends. */
const FINISH_MILLISECONDS = 5_000

/**
 * Creates a reporter of the local server's answers, which sends one report at a time. Reports are best effort: one that
 * fails, or that would wait behind a thousand others, is dropped, and listening goes on.
 *
 * @param options `captures`: reports answers to captures too, not only those to replays
 */
function createReporter(api: ApiClient, listener: string, { captures }: { readonly captures: boolean }) {
  let last = Promise.resolve()
  let waitingCount = 0
  let droppedCount = 0
  const ended = new AbortController()
  const report = async (shown: Shown) => {
    if (ended.signal.aborted) return
    const isDone = await reportAnswer(api, { listener, ended: ended.signal }, shown)
    waitingCount -= 1
    if (!isDone) droppedCount += 1
  }
  return {
    take(shown: Shown): void {
      if (shown.replayId === undefined && !captures) return
      if (waitingCount >= WAITING_MAX) {
        droppedCount += 1
        return
      }
      waitingCount += 1
      last = last.then(() => report(shown))
    },
    /** Waits for pending reports, for a few seconds. @returns the number of dropped answers */
    async finish(): Promise<number> {
      await Promise.race([last, sleep(FINISH_MILLISECONDS, undefined, { ref: false })])
      const missingCount = droppedCount + waitingCount
      ended.abort()
      return missingCount
    },
  }
}

/** @returns whether the service accepted it */
async function reportAnswer(
  api: ApiClient,
  { listener, ended }: { readonly listener: string; readonly ended: AbortSignal },
  { request, answer, replayId }: Shown,
): Promise<boolean> {
  if (answer === null) return true
  const { method, url, at, durationMs, statusCode, error, sent, received } = answer
  const report = {
    endpointId: request.endpointId,
    requestId: request.id,
    listener,
    replayId,
    url,
    at,
    durationMs,
    error,
    sent: { method, headers: fields(sent) },
    received: received === null || statusCode === null ? null : { statusCode, ...reported(received) },
  }
  try {
    await api.calls.deliveries.report(report, { signal: ended, timeoutMs: REPORT_MILLISECONDS })
    return true
  } catch (failure) {
    if (!(failure instanceof ClientError) && !ended.aborted) throw failure
    return false
  }
}

const fields = ({ headers }: LocalMessage) =>
  headers.map(([name, value]) => {
    const bytes = Buffer.from(value, 'latin1')
    return { name, value: isUtf8(bytes) ? bytes.toString() : value }
  })

function reported(message: LocalMessage) {
  const kept = Buffer.from(message.body).subarray(0, REPORTED_BYTES)
  const text = kept.toString('utf8')
  const bodyIsBinary = !Buffer.from(text).equals(kept)
  return {
    headers: fields(message),
    body: kept.length === 0 ? null : bodyIsBinary ? kept.toString('base64') : text,
    bodyIsBinary,
    bodyTruncated: kept.length < message.body.length,
  }
}
