import type { Command } from 'commander'
import type { ApiClient } from '../api/apiClient.ts'
import { endpointIdOf } from '../api/endpointChoice.ts'
import { ClientError } from '../clientError.ts'
import { EXIT } from '../exitCodes.ts'
import { createLocalSender, type LocalSender } from '../listen/localSender.ts'
import { isTarget } from '../listen/localTarget.ts'
import { printJson, printText } from '../output/print.ts'
import { lackOf } from '../output/requestText.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { requestIdsOption } from '../words.ts'
import { called } from './nounCommands.ts'

interface ReplayOptions extends ClientOptions {
  readonly endpoint?: string
  readonly to?: string
  readonly skipVerify?: boolean
}

/** Result of one replay, as text and as JSON. */
interface Replayed {
  readonly isGood: boolean
  readonly lines: readonly string[]
  readonly json: unknown
}

export function addReplayCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .argument('<ids...>', 'ids of captured requests', requestIdsOption)
      .option('-e, --endpoint <endpoint>', 'name, id or capture URL; default the endpoint of the requests')
      .option(
        '--to <where>',
        'an action, `listeners`, or a port or URL to send to from this machine; default every action',
      )
      .option('--skip-verify', 'accept any TLS certificate of a URL'),
    {
      json: 'print one JSON object per request, one per line',
      examples: ['creel replay 12', 'creel replay 12 13 --to Billing', 'creel replay 12 --to 3000'],
    },
  ).action(async (ids: readonly number[], options: ReplayOptions) => {
    const api = await openApi(options, tools)
    const replayers = new Map<string, Replayer>()
    try {
      for (const id of ids) {
        const endpointId = await endpointIdOf(api, options.endpoint, id)
        const replay =
          replayers.get(endpointId) ??
          (await replayer(api, endpointId, { ...options, openOutbound: tools.openOutbound }))
        replayers.set(endpointId, replay)
        const { isGood, lines, json } = await replay.one(id)
        if (options.json === true) printJson(json)
        else printText(...lines)
        if (!isGood) process.exitCode = EXIT.failed
      }
    } finally {
      for (const replay of replayers.values()) await replay.close?.()
    }
  })
}

interface Replayer {
  one(requestId: number): Promise<Replayed>
  close?(): Promise<void>
}

async function replayer(
  api: ApiClient,
  endpointId: string,
  { to, skipVerify, openOutbound }: ReplayOptions & Pick<TerminalTools, 'openOutbound'>,
): Promise<Replayer> {
  if (to === 'listeners') return { one: (id) => toListeners(api, endpointId, id) }
  if (to !== undefined && isTarget(to)) {
    const sender = createLocalSender({ target: to, skipVerify: skipVerify === true, openOutbound })
    return { one: (id) => fromHere(api, endpointId, id, sender), close: () => sender.close() }
  }
  const actionId = to === undefined ? undefined : await actionNamed(api, endpointId, to)
  return { one: (id) => throughActions(api, endpointId, id, actionId) }
}

async function actionNamed(api: ApiClient, endpointId: string, wanted: string): Promise<string> {
  const { actions } = await api.calls.actions.list({ endpointId })
  const hint = 'To send from this machine, give a port or a URL: --to 3000, --to http://localhost:3000/hooks.'
  return called(actions, wanted, 'action', hint).id
}

async function throughActions(
  api: ApiClient,
  endpointId: string,
  requestId: number,
  actionId: string | undefined,
): Promise<Replayed> {
  const result = await api.calls.requests.replay({ endpointId, requestId, actionId })
  const lines = result.outcomes.map(({ actionName, state, statusCode, error, durationMs, url }) => {
    const answer = error ?? (statusCode === null ? '' : String(statusCode))
    const time = durationMs === null ? '' : `${durationMs} ms`
    return [`#${requestId}`, state, actionName, answer, time, url ?? '']
      .filter((part) => part !== '')
      .join('  ')
  })
  return {
    isGood: result.state === 'Succeeded' || result.state === 'Skipped',
    lines: lines.length === 0 ? [`#${requestId}  Skipped  no action matches it`] : lines,
    json: result,
  }
}

async function toListeners(api: ApiClient, endpointId: string, requestId: number): Promise<Replayed> {
  const result = await api.calls.requests.replay({ endpointId, requestId, to: 'listeners' })
  const count = result.listenerCount ?? 0
  if (count === 0)
    throw new ClientError('No listener is connected to this endpoint.', [
      'Start one: `creel listen --to <port>`.',
    ])
  const who = count === 1 ? '1 listener' : `${count} listeners`
  return { isGood: true, lines: [`#${requestId}  ${result.state}  sent to ${who}`], json: result }
}

/** Sends the captured bytes from this machine. */
async function fromHere(
  api: ApiClient,
  endpointId: string,
  requestId: number,
  sender: LocalSender,
): Promise<Replayed> {
  const request = await api.calls.requests.get({ endpointId, requestId })
  const lack = lackOf(request)
  if (lack !== undefined) throw new ClientError(`#${requestId} cannot be sent: ${lack}.`)
  const answer = await sender.send(request)
  const { durationMs, error, method, statusCode, url } = answer
  return {
    isGood: statusCode !== null && statusCode < 400,
    lines: [`#${requestId}  ${statusCode ?? error}  ${durationMs} ms  ${method} ${url}`],
    json: { requestId, ...answer },
  }
}
