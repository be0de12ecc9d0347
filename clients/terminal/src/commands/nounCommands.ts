import type { Command } from 'commander'
import { z } from 'zod'
import type { ApiClient } from '../api/apiClient.ts'
import { requireMembers } from '../api/bodyMembers.ts'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { ClientError, usageError } from '../clientError.ts'
import { printHint, printTable, printText, printWarnings } from '../output/print.ts'
import { addVerb, type ClientOptions, ENDPOINT_OPTION, isConfirmed } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { assignments, jsonOrText, textOfFile } from '../words.ts'
import type { ActionOptions } from './actionMembers.ts'
import type { Item, Noun, Place } from './nouns.ts'

interface NounOptions extends ClientOptions, ActionOptions {
  readonly endpoint?: string
  readonly action?: string
  readonly set?: readonly string[]
  readonly file?: string
  readonly yes?: boolean
}

/** A changed or created item. Members that are not listed are kept unchanged. */
const Changed = z.looseObject({
  id: z.string(),
  name: z.string().nullish(),
  warnings: z.array(z.string()).optional(),
})

/** Adds the command `list` of a noun, which prints all items or a JSON object for each. */
export function addNounList(command: Command, noun: Noun, tools: TerminalTools): void {
  const list = command.command('list').description(`list ${noun.one}s`)
  addVerb(withPlace(list, noun), tools, {
    json: 'print one JSON object per line',
    examples: [`creel ${command.name()} list${noun.endpoint === 'path' ? ' -e orders' : ''}`],
    run: async (api, options: NounOptions) => await noun.read(api.calls, await placeOf(api, noun, options)),
    print: (items) =>
      printTable(
        items,
        Object.fromEntries(noun.columns.map((name) => [name, (item: Item) => cellOf(item[name])])),
      ),
  })
}

/** Adds `create`, `update` and `delete`. */
export function addNounChanges(command: Command, noun: Noun, tools: TerminalTools): void {
  const name = command.name()
  const json = `print the ${noun.one} on one line`
  const create = command.command('create').description(`create one ${noun.one}`)
  addVerb(withPlace(withBody(create, noun), noun), tools, {
    json,
    examples: [`creel ${name} create ${noun.example}`],
    run: async (api, options: NounOptions) => {
      const named = (await noun.options?.read(options, undefined)) ?? {}
      const given = await bodyOf(api, options, { method: 'POST', route: noun.list }, named)
      const needsPlace = noun.endpoint === 'path' || given.endpointId === undefined
      const place = needsPlace ? await placeOf(api, noun, options) : OF_WORKSPACE
      const inBody = noun.endpoint === 'body' ? { endpointId: place.endpointId } : {}
      const path = pathOf(noun.list, place)
      return Changed.parse(
        await api.call('POST', path, { query: place.query, body: { ...inBody, ...given } }),
      )
    },
    print: (made) => {
      printText(made.id)
      printHint(`Created the ${noun.one} "${made.name ?? ''}".`)
      printWarnings(made)
    },
  })

  const update = command.command('update').description(`change the given members of one ${noun.one}`)
  addVerb(withPlace(withBody(update.argument('<which>', 'name or id'), noun), noun), tools, {
    json,
    examples: [`creel ${name} update <name> --set name=other`],
    run: async (api, options: NounOptions, wanted: string) => {
      const { place, ...stored } = await chosen(api, noun, { wanted, options })
      const named = (await noun.options?.read(options, stored)) ?? {}
      const operation = { method: 'PUT', route: noun.item, fileMember: noun.fileMember } as const
      const body = await bodyOf(api, options, operation, named)
      return Changed.parse(
        await api.call('PUT', pathOf(noun.item, place, stored.id), { query: place.query, body }),
      )
    },
    print: (changed) => {
      printText(`Changed the ${noun.one} "${changed.name ?? changed.id}".`)
      printWarnings(changed)
    },
  })

  const remove = command
    .command('delete')
    .description(`delete one ${noun.one}`)
    .argument('<which>', 'name or id')
    .option('--yes', 'delete; without it, nothing changes')
  addVerb(withPlace(remove, noun), tools, {
    json: 'print {"deleted"} on one line',
    examples: [`creel ${name} delete <name> --yes`],
    run: async (api, options: NounOptions, wanted: string) => {
      const { id, name: called, place } = await chosen(api, noun, { wanted, options })
      const wouldDo = `This would permanently delete the ${noun.one} "${called ?? id}".`
      if (!isConfirmed(options, wouldDo, 'Add --yes to delete it.')) return undefined
      await api.call('DELETE', pathOf(noun.item, place, id), { query: place.query })
      return { id, called }
    },
    inJson: ({ id }) => ({ deleted: id }),
    print: ({ id, called }) => printText(`Deleted the ${noun.one} "${called ?? id}".`),
  })
}

function withPlace(command: Command, noun: Noun): Command {
  if (noun.endpoint !== undefined) command.option(...ENDPOINT_OPTION)
  return noun.hasAction === true
    ? command.option('--action <action>', 'action; default the first forward')
    : command
}

const withBody = (command: Command, noun: Noun): Command =>
  (noun.options?.add(command) ?? command)
    .option('--set <member=value...>', 'members of the API; a value is read as JSON, else as text')
    .option('--file <file>', 'JSON file with the members, - for stdin')

const cellOf = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)

const pathOf = (route: string, { endpointId }: Place, id = ''): string =>
  route.replace('{endpointId}', encodeURIComponent(endpointId)).replace(/\{\w+\}$/, encodeURIComponent(id))

const OF_WORKSPACE: Place = { endpointId: '', query: {} }

async function placeOf(api: ApiClient, noun: Noun, options: NounOptions): Promise<Place> {
  if (noun.endpoint === undefined) return OF_WORKSPACE
  const endpointId = (await chooseEndpoint(api, options.endpoint)).id
  if (options.action === undefined) return { endpointId, query: {} }
  const { actions } = await api.calls.actions.list({ endpointId })
  return { endpointId, query: { actionId: called(actions, options.action, 'action').id } }
}

async function chosen(
  api: ApiClient,
  noun: Noun,
  { wanted, options }: { readonly wanted: string; readonly options: NounOptions },
): Promise<Item & { readonly place: Place }> {
  // An item of the workspace needs no choice of an endpoint.
  const place = noun.endpoint === 'path' ? await placeOf(api, noun, options) : OF_WORKSPACE
  return { ...called(await noun.read(api.calls, place), wanted, noun.one), place }
}

/**
 * The one item with this id or name, ignoring case.
 *
 * @param hint what else might be meant, where there is none
 * @throws ClientError when there is none, or several are called so
 */
export function called<Named extends { readonly id: string; readonly name?: string | null | undefined }>(
  items: readonly Named[],
  wanted: string,
  one: string,
  ...hint: readonly string[]
): Named {
  const word = wanted.toLowerCase()
  const fitting = [
    items.filter(({ id }) => id === word),
    items.filter(({ name }) => name?.toLowerCase() === word),
  ].find((found) => found.length > 0)
  const [found, ...others] = fitting ?? []
  const listed = (fitting ?? items).map(({ id, name }) => `  ${name ?? ''} (${id})`)
  if (found === undefined) {
    const choice = listed.length === 0 ? [] : ['Choose one of:', ...listed]
    throw new ClientError(`There is no ${one} "${wanted}".`, [...choice, ...hint])
  }
  if (others.length > 0) throw new ClientError(`Several ${one}s are named "${wanted}". Give an id.`, listed)
  return found
}

/**
 * Chooses one item by its name or id.
 *
 * @returns the item, and its endpoint
 * @throws ClientError when there is none, or several are called so
 */
export async function chooseItem(
  api: ApiClient,
  noun: Noun,
  which: { readonly wanted: string; readonly options: Pick<NounOptions, 'endpoint' | 'action'> },
): Promise<Pick<Item, 'id' | 'name'> & Pick<Place, 'endpointId'>> {
  const { id, name, place } = await chosen(api, noun, which)
  return { id, name, endpointId: place.endpointId }
}

async function bodyOf(
  api: ApiClient,
  { set = [], file }: NounOptions,
  operation: {
    readonly method: 'POST' | 'PUT'
    readonly route: string
    readonly fileMember?: string | undefined
  },
  named: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const assigned = { ...named, ...assignments(set, 'name=Billing') }
  await requireMembers(api, operation, Object.keys(assigned))
  if (file === undefined) {
    if (Object.keys(assigned).length > 0) return assigned
    throw usageError('No member is given.', 'Give members with --set, or a JSON file with --file.')
  }
  const read = await objectOf(file)
  return { ...(operation.fileMember === undefined ? read : { [operation.fileMember]: read }), ...assigned }
}

async function objectOf(file: string): Promise<Record<string, unknown>> {
  const read = z.record(z.string(), z.unknown()).safeParse(jsonOrText(await textOfFile(file)))
  if (!read.success) throw usageError(`${file} is not one JSON object.`)
  return read.data
}
