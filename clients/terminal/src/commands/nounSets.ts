import { type Command, InvalidArgumentError } from 'commander'
import type { CallAnswer } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { printHint, printText } from '../output/print.ts'
import { agoText } from '../output/text.ts'
import { addVerb, type ClientOptions, ENDPOINT_OPTION } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { addNounChanges, addNounList, chooseItem } from './nounCommands.ts'
import { ACTIONS, CHANNELS, type Noun, RULES } from './nouns.ts'

const commandsOf =
  (noun: Noun) =>
  (command: Command, tools: TerminalTools): void => {
    addNounList(command, noun, tools)
    addNounChanges(command, noun, tools)
  }

export function addActionsCommands(command: Command, tools: TerminalTools): void {
  commandsOf(ACTIONS)(command, tools)
  addFlowCommands(command, tools)
}

export const addRulesCommands = commandsOf(RULES)

export const addChannelsCommands = commandsOf(CHANNELS)

interface FlowOptions extends ClientOptions {
  readonly endpoint?: string
  readonly perSecond?: number
}

const PER_SECOND_MAX = 10_000

/** Adds `creel actions pause`, `resume` and `backlog`. */
function addFlowCommands(command: Command, tools: TerminalTools): void {
  const pause = command.command('pause').description('pause an action; its deliveries wait')
  addVerb(ofAction(pause), tools, {
    json: 'print the action on one line',
    examples: ['creel actions pause Billing'],
    run: async (api, options: FlowOptions, wanted: string) =>
      await api.calls.actions.pause(await placeOf(api, wanted, options)),
    print: ({ id, name }, { endpoint }) => {
      printText(`Paused "${name}".`)
      const resume = `creel actions resume ${id}${endpoint === undefined ? '' : ` -e "${endpoint}"`}`
      printHint(`Captures continue and deliveries wait. Resume with: ${resume}`)
    },
  })

  const resume = command
    .command('resume')
    .description('resume a paused action')
    .option('--per-second <n>', 'limit for starting attempts until the backlog is empty', perSecondOption)
  addVerb(ofAction(resume), tools, {
    json: 'print the action on one line',
    examples: ['creel actions resume Billing', 'creel actions resume Billing --per-second 10'],
    run: async (api, { perSecond, ...options }: FlowOptions, wanted: string) =>
      await api.calls.actions.resume({ ...(await placeOf(api, wanted, options)), perSecond }),
    print: ({ name }) => printText(`Resumed "${name}".`),
  })

  const backlog = command.command('backlog').description("show an action's backlog and its cause")
  addVerb(ofAction(backlog), tools, {
    json: 'print the backlog on one line',
    examples: ['creel actions backlog Billing', 'creel actions backlog Billing --json | jq .waiting'],
    run: async (api, options: FlowOptions, wanted: string) =>
      await api.calls.actions.backlog(await placeOf(api, wanted, options)),
    print: (found) => printText(...linesOf(found, Date.now())),
  })
}

function linesOf(backlog: CallAnswer<'actions_backlog'>, now: number): string[] {
  const { breaker, drainsAt, expiring, keysHeld, keysWaiting, oldestWaitingAt, pausedAt, rate } = backlog
  const lines = [`${backlog.waiting} waiting, ${backlog.inFlight} in flight`]
  if (oldestWaitingAt !== null) lines.push(`oldest: ${agoText(oldestWaitingAt, now)}`)
  if (pausedAt !== null) lines.push(`paused: ${agoText(pausedAt, now)}`)
  if (rate !== null) lines.push(`rate: ${rate.count} per ${rate.perSeconds} s`)
  if (drainsAt !== null) lines.push(`drained at: ${drainsAt}`)
  if (breaker.state !== 'closed')
    lines.push(
      `breaker: ${breaker.state}${breaker.nextProbeAt === null ? '' : `, next probe ${breaker.nextProbeAt}`}`,
    )
  if (keysWaiting > 0) lines.push(`keys with deliveries that wait for an earlier one: ${keysWaiting}`)
  for (const { key, requestId } of keysHeld) lines.push(`held: key ${key} by request ${requestId}`)
  if (expiring > 0) lines.push(`deleted by retention before they are sent: ${expiring}`)
  return lines
}

async function placeOf(api: ApiClient, wanted: string, options: FlowOptions) {
  const { id, endpointId } = await chooseItem(api, ACTIONS, { wanted, options })
  return { endpointId, actionId: id }
}

const ofAction = (command: Command): Command =>
  command.argument('<which>', 'name or id of the action').option(...ENDPOINT_OPTION)

function perSecondOption(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= PER_SECOND_MAX) return count
  throw new InvalidArgumentError(`Give a whole number from 1 to ${PER_SECOND_MAX}.`)
}
