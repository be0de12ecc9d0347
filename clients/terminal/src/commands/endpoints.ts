import type { Command } from 'commander'
import { allEndpoints, chooseEndpoint } from '../api/endpointChoice.ts'
import { durationSeconds } from '../duration.ts'
import { EXIT } from '../exitCodes.ts'
import { printHint, printJson, printTable, printText } from '../output/print.ts'
import { agoText } from '../output/text.ts'
import { type ClientOptions, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { type MemberOptions, membersOf, withMemberOptions } from './endpointMembers.ts'

const JSON_ONE = 'print the endpoint on one line'

export function addEndpointsCommands(command: Command, tools: TerminalTools): void {
  withClientOptions(command.command('list').description('list the endpoints, newest first'), {
    json: 'print one JSON array on one line',
    examples: ['creel endpoints list', "creel endpoints list --json | jq -r '.[].url'"],
  }).action(async (options: ClientOptions) => {
    const endpoints = await allEndpoints(await openApi(options, tools))
    if (options.json === true) return printJson(endpoints)
    const now = Date.now()
    printTable(endpoints, {
      Name: ({ name }) => name,
      Url: ({ url }) => url,
      Stored: ({ storedRequestCount }) => String(storedRequestCount),
      'Last request': ({ lastRequestAt }) => agoText(lastRequestAt, now),
      State: ({ isActive }) => (isActive ? 'on' : 'off'),
      Id: ({ id }) => id.slice(0, 8),
    })
  })

  withMemberOptions(
    withClientOptions(command.command('create').description('create an endpoint and print its capture URL'), {
      json: JSON_ONE,
      examples: [
        'creel endpoints create --name orders',
        'creel endpoints create --name ci --ttl 15m',
        'creel endpoints create --name stripe --provider stripe --signing-secret whsec_…',
      ],
    }),
    { isNew: true },
  ).action(async (options: ClientOptions & MemberOptions) => {
    const api = await openApi(options, tools)
    const body = await membersOf(options, api, { method: 'POST', route: '/api/v1/endpoints' })
    const made = await api.calls.endpoints.create(body)
    if (options.json === true) return printJson(made)
    printText(made.url)
    printHint(`Created the endpoint "${made.name}". Next: creel listen ${made.id.slice(0, 8)} --to <port>`)
    const namesakes = (await allEndpoints(api)).filter(({ id, name }) => name === made.name && id !== made.id)
    if (namesakes.length > 0) {
      printHint(
        `Other endpoints have this name too (${namesakes.length}). Use the id ${made.id.slice(0, 8)} for this one.`,
      )
    }
  })

  withClientOptions(
    command.command('get').description('read an endpoint').argument('[endpoint]', 'name, id or capture URL'),
    { json: JSON_ONE, examples: ['creel endpoints get orders'] },
  ).action(async (wanted: string | undefined, options: ClientOptions) => {
    const endpoint = await chooseEndpoint(await openApi(options, tools), wanted, { onlyReads: true })
    if (options.json === true) return printJson(endpoint)
    printTable(Object.entries(endpoint), {
      Member: ([name]) => name,
      Value: ([, value]) => (typeof value === 'string' ? value : JSON.stringify(value)),
    })
  })

  withMemberOptions(
    withClientOptions(
      command
        .command('update')
        .description('change the given settings of an endpoint')
        .argument('<endpoint>', 'name, id or capture URL'),
      {
        json: JSON_ONE,
        examples: [
          'creel endpoints update orders --name orders-eu',
          'creel endpoints update orders --set responseStatusCode=202',
        ],
      },
    ),
    { isNew: false },
  ).action(async (wanted: string, options: ClientOptions & MemberOptions) => {
    const api = await openApi(options, tools)
    const { id } = await chooseEndpoint(api, wanted)
    const route = '/api/v1/endpoints/{endpointId}'
    const body = await membersOf(options, api, { method: 'PATCH', route })
    const changed = await api.calls.endpoints.update({ ...body, endpointId: id })
    if (options.json === true) return printJson(changed)
    printText(`Changed the endpoint "${changed.name}".`)
  })

  addRotateUrlCommand(command, tools)

  withClientOptions(
    command
      .command('delete')
      .description('permanently delete an endpoint with all its requests')
      .argument('<endpoint>', 'name, id or capture URL')
      .option('--yes', 'delete; without it, nothing changes'),
    { json: 'print {"deleted"} on one line', examples: ['creel endpoints delete ci --yes'] },
  ).action(async (wanted: string, options: ClientOptions & { yes?: boolean }) => {
    const api = await openApi(options, tools)
    const { id, name, storedRequestCount } = await chooseEndpoint(api, wanted)
    if (options.yes !== true) {
      printHint(
        `This would permanently delete "${name}" and its ${storedRequestCount} stored requests.`,
        'Add --yes to delete them.',
      )
      process.exitCode = EXIT.usage
      return
    }
    await api.calls.endpoints.remove({ endpointId: id })
    if (options.json === true) return printJson({ deleted: id })
    printText(`Deleted the endpoint "${name}".`)
  })
}

function addRotateUrlCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    command
      .command('rotate-url')
      .description('create a new capture URL and print it; the old one keeps working for a while')
      .argument('<endpoint>', 'name, id or capture URL')
      .option(
        '--overlap <duration>',
        'time that the old URL keeps working, e.g. 12h; 0s ends it at once',
        durationSeconds,
      ),
    {
      json: 'print the endpoint on one line',
      examples: ['creel endpoints rotate-url orders', 'creel endpoints rotate-url orders --overlap 7d'],
    },
  ).action(async (wanted: string, { overlap, ...options }: ClientOptions & { overlap?: number }) => {
    const api = await openApi(options, tools)
    const { id, name } = await chooseEndpoint(api, wanted)
    const overlapping = overlap === undefined ? {} : { overlapSeconds: overlap }
    const rotated = await api.calls.endpoints.rotateUrl({ endpointId: id, ...overlapping })
    if (options.json === true) return printJson(rotated)
    printText(rotated.url)
    const until = rotated.previousUrlUntil
    printHint(
      typeof until === 'string'
        ? `The old capture URL of "${name}" keeps working until ${until}.`
        : `The old capture URL of "${name}" no longer works.`,
    )
  })
}
