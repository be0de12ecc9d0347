import type { Command } from 'commander'
import type { EndpointData } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { type Operation, requireMembers } from '../api/bodyMembers.ts'
import { allEndpoints, chooseEndpoint } from '../api/endpointChoice.ts'
import { givesMembers, usageError } from '../clientError.ts'
import { printHint, printTable, printText, printWarnings } from '../output/print.ts'
import { agoText } from '../output/text.ts'
import { addVerb, type ClientOptions, isConfirmed } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { assignments, durationSeconds, given, spanOption } from '../words.ts'

const JSON_ONE = 'print the endpoint on one line'

export function addEndpointsCommands(command: Command, tools: TerminalTools): void {
  addVerb(command.command('list').description('list the endpoints, newest first'), tools, {
    json: 'print one JSON array on one line',
    isOneArray: true,
    examples: ['creel endpoints list', "creel endpoints list --json | jq -r '.[].url'"],
    run: allEndpoints,
    print: (endpoints) =>
      printTable(endpoints, {
        Name: ({ name }) => name,
        Url: ({ url }) => url,
        Stored: ({ storedRequestCount }) => String(storedRequestCount),
        'Last request': ({ lastRequestAt }) => agoText(lastRequestAt, Date.now()),
        State: ({ isActive }) => (isActive ? 'on' : 'off'),
        Id: ({ id }) => id.slice(0, 8),
      }),
  })

  const create = command.command('create').description('create an endpoint and print its capture URL')
  addVerb(withMemberOptions(create, { isNew: true }), tools, {
    json: JSON_ONE,
    examples: [
      'creel endpoints create --name orders',
      'creel endpoints create --name ci --ttl 15m',
      'creel endpoints create --name stripe --provider stripe --signing-secret whsec_…',
    ],
    run: async (api, options: ClientOptions & MemberOptions) => {
      const operation = { method: 'POST', route: '/api/v1/endpoints' } as const
      const body = await membersOf(options, api, operation)
      const made = await api.calls.endpoints.create(body)
      if (options.json === true) return { made, namesakes: 0 }
      const all = await allEndpoints(api)
      return { made, namesakes: all.filter(({ id, name }) => name === made.name && id !== made.id).length }
    },
    inJson: ({ made }) => made,
    print: ({ made, namesakes }) => {
      const { id, name, url } = made
      printText(url)
      printHint(`Created the endpoint "${name}". Next: creel listen ${id.slice(0, 8)} --to <port>`)
      printWarnings(made)
      if (namesakes === 0) return
      printHint(
        `Other endpoints have this name too (${namesakes}). Use the id ${id.slice(0, 8)} for this one.`,
      )
    },
  })

  const get = command.command('get').description('read an endpoint')
  addVerb(get.argument('[endpoint]', 'name, id or capture URL'), tools, {
    json: JSON_ONE,
    examples: ['creel endpoints get orders'],
    run: (api, _: ClientOptions, wanted: string | undefined) =>
      chooseEndpoint(api, wanted, { onlyReads: true }),
    print: (endpoint) =>
      printTable(Object.entries(endpoint), {
        Member: ([name]) => name,
        Value: ([, value]) => (typeof value === 'string' ? value : JSON.stringify(value)),
      }),
  })

  const update = command
    .command('update')
    .description('change the given settings of an endpoint')
    .argument('<endpoint>', 'name, id or capture URL')
  addVerb(withMemberOptions(update, { isNew: false }), tools, {
    json: JSON_ONE,
    examples: [
      'creel endpoints update orders --name orders-eu',
      'creel endpoints update orders --set responseStatusCode=202',
    ],
    run: async (api, options: ClientOptions & MemberOptions, wanted: string) => {
      const { id, dedupe } = await chooseEndpoint(api, wanted)
      const operation = { method: 'PATCH', route: '/api/v1/endpoints/{endpointId}' } as const
      const body = await membersOf(options, api, operation, dedupe)
      return await api.calls.endpoints.update({ ...body, endpointId: id })
    },
    print: (changed) => {
      printText(`Changed the endpoint "${changed.name}".`)
      printWarnings(changed)
    },
  })

  addVerb(
    givesMembers(command.command('rotate-url'), { overlapSeconds: '--overlap' })
      .description('create a new capture URL and print it; the old one keeps working for a while')
      .argument('<endpoint>', 'name, id or capture URL')
      .option(
        '--overlap <duration>',
        'time that the old URL keeps working, e.g. 12h; 0s ends it at once',
        durationSeconds,
      ),
    tools,
    {
      json: JSON_ONE,
      examples: ['creel endpoints rotate-url orders', 'creel endpoints rotate-url orders --overlap 7d'],
      run: async (api, { overlap }: ClientOptions & { overlap?: number }, wanted: string) => {
        const { id } = await chooseEndpoint(api, wanted)
        return await api.calls.endpoints.rotateUrl({ endpointId: id, overlapSeconds: overlap })
      },
      print: ({ name, previousUrlUntil: until, url }) => {
        printText(url)
        printHint(
          typeof until === 'string'
            ? `The old capture URL of "${name}" keeps working until ${until}.`
            : `The old capture URL of "${name}" no longer works.`,
        )
      },
    },
  )

  addVerb(
    command
      .command('delete')
      .description('permanently delete an endpoint with all its requests')
      .argument('<endpoint>', 'name, id or capture URL')
      .option('--yes', 'delete; without it, nothing changes'),
    tools,
    {
      json: 'print {"deleted"} on one line',
      examples: ['creel endpoints delete ci --yes'],
      run: async (api, options: ClientOptions & { yes?: boolean }, wanted: string) => {
        const { id, name, storedRequestCount } = await chooseEndpoint(api, wanted)
        const wouldDo = `This would permanently delete "${name}" and its ${storedRequestCount} stored requests.`
        if (!isConfirmed(options, wouldDo, 'Add --yes to delete them.')) return undefined
        await api.calls.endpoints.remove({ endpointId: id })
        return { id, name }
      },
      inJson: ({ id }) => ({ deleted: id }),
      print: ({ name }) => printText(`Deleted the endpoint "${name}".`),
    },
  )
}

/** Value of `--dedupe` that captures an event each time. */
const OFF = 'off'
const DAY_SECONDS = 86_400

interface MemberOptions {
  readonly name?: string
  readonly provider?: string
  readonly signingSecret?: string
  readonly ttl?: number
  readonly eventIdPath?: string
  readonly dedupe?: string
  readonly dedupeBy?: string
  readonly dedupeWindow?: number
  readonly on?: boolean
  readonly off?: boolean
  readonly set?: readonly string[]
}

/** Adds options for the most common members, and `--set` for all the others. */
function withMemberOptions(command: Command, { isNew }: { isNew: boolean }): Command {
  command
    .option('--name <name>', 'display name, 1-100 characters')
    .option('--provider <slug>', 'sender, e.g. stripe (`creel providers` lists them); "" for none')
    .option('--signing-secret <secret>', 'secret that the sender signs with; "" for none')
  if (isNew) command.option('--ttl <span>', 'delete the endpoint after this time, e.g. 15m', spanOption)
  return givesMembers(command, {
    ttlSeconds: '--ttl',
    'dedupe.then': '--dedupe',
    'dedupe.by': '--dedupe-by',
    'dedupe.windowSeconds': '--dedupe-window',
  })
    .option(
      '--event-id-path <path>',
      'path of the event id, e.g. body.order.id; "" for the path of the provider',
    )
    .option('--dedupe <mode>', 'mark, skip or discard an event that comes again; off for none')
    .option(
      '--dedupe-by <path>',
      'path that identifies an event for --dedupe, e.g. body.order.id; default event id',
    )
    .option(
      '--dedupe-window <span>',
      'time after the first event in which others are duplicates; default 1d',
      spanOption,
    )
    .option('--on', 'capture requests')
    .option('--off', 'stop capturing: senders get 404')
    .option('--set <member=value...>', 'any member of the API, e.g. responseStatusCode=202')
}

/**
 * The members that the options set, as the API's input.
 *
 * @param operation the operation that takes them
 * @param stored of the endpoint before: options change its named members
 * @throws ClientError for a `--set` that is not an assignment or names no member of the operation
 */
async function membersOf(
  options: MemberOptions,
  api: ApiClient,
  operation: Operation,
  stored?: Dedupe,
): Promise<Record<string, unknown>> {
  const { name, provider, signingSecret, ttl, eventIdPath, on, off, set = [] } = options
  if (on === true && off === true) throw usageError('--on and --off exclude each other.', 'Give one of them.')
  const members = given({
    name,
    provider,
    signingSecret,
    ttlSeconds: ttl === undefined ? undefined : Math.round(ttl / 1000),
    eventIdPath,
    dedupe: dedupeOf(options, stored ?? null),
    isActive: on === true ? true : off === true ? false : undefined,
  })
  const assigned = assignments(set, 'responseStatusCode=202')
  await requireMembers(api, operation, Object.keys(assigned))
  return { ...members, ...assigned }
}

type Dedupe = EndpointData['dedupe']

function dedupeOf({ dedupe, dedupeBy, dedupeWindow }: MemberOptions, stored: Dedupe) {
  const then = dedupe ?? stored?.then
  const named = given({
    then: dedupe,
    by: dedupeBy,
    windowSeconds: dedupeWindow === undefined ? undefined : Math.round(dedupeWindow / 1000),
  })
  const namedCount = Object.keys(named).length
  if (namedCount === 0) return undefined
  if (dedupe === OFF && namedCount === 1) return null
  if (then === undefined || then === OFF)
    throw usageError(
      '--dedupe-by and --dedupe-window say how --dedupe works.',
      'Add --dedupe mark, skip or discard.',
    )
  return { by: 'event', windowSeconds: DAY_SECONDS, ...stored, ...named }
}
