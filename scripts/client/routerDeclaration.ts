/** Type parameter of every router in the tree. It hides the service's context. */
const ROOT_TYPES =
  /TRPCBuiltRouter<\{\s+ctx: [\s\S]*?errorShape: (\{[\s\S]*?\n {8}\});\s+transformer: false;\s+\}/g
const META =
  /\{\s+contract\?: import\("[^"]*"\)\.RouteContract;\s+stream\?: import\("[^"]*"\)\.StreamContract;\s+\}/g
/** Type of a stream's items. The library exports it only from a part that is not to be imported. */
const TRACKED = 'import("@trpc/server/unstable-core-do-not-import").TrackedData<'

const LINE_START = /^ +/gm
/** Tabs for the compiler's four spaces: a third of the size. */
const tabbed = (text: string, less = 0) =>
  text.replaceAll(LINE_START, (indent) => '\t'.repeat(Math.max(0, indent.length / 4 - less)))

/**
 * The router's type as one declaration that needs nothing but `@trpc/server`, made from what the compiler wrote for
 * `routerRecord.ts`.
 *
 * @throws when something of the service's own code is left in it
 */
export function routerDeclaration(emitted: string): string {
  const [whole = '', event = ''] = emitted.split('export declare const followedEvent: ')
  const start = whole.indexOf('TRPCDecorateCreateRouterOptions<')
  const errorShape = [...whole.matchAll(ROOT_TYPES)][0]?.[1]
  if (start < 0 || errorShape === undefined || event === '') {
    throw new Error('The compiler writes routers in another way.')
  }
  // It ends at the margin; everything within is indented.
  const routers = whole.slice(start, whole.lastIndexOf('\n}>;') + '\n}>'.length)
  const record = tabbed(
    withFollowedEvent(routers)
      .replaceAll(ROOT_TYPES, 'TRPCBuiltRouter<RootTypes')
      .replaceAll(META, 'object')
      .replaceAll('import("@trpc/server").', '')
      .trimEnd(),
  )
  const left = /import\("[^"]*"\)[.\w]*/.exec(record + event)?.[0]
  if (left !== undefined)
    throw new Error(`The router's type speaks of ${left}: give its procedure a type of its own.`)
  const shape = tabbed(errorShape.replaceAll('import("@trpc/server").', ''), 1)
  const imported = [...new Set((shape + record).match(/\bTRPC\w+/g))].sort()
  return `import type {
${imported.map((name) => `\t${name},`).join('\n')}
} from '@trpc/server'

interface RootTypes {
	ctx: object
	meta: object
	errorShape: ${shape}
	transformer: false
}

/** An item of a stream, and the id that a later stream resumes after. */
interface Tracked<Data> {
	id: string
	data: Data
}

/** An event of an endpoint's live stream. */
export type FollowedEvent = ${tabbed(event).replace(/;\s*(?:export \{\};)?\s*$/, '')}

/** Every procedure of the service, as \`/trpc\` serves it. */
export type AppRouter = TRPCBuiltRouter<RootTypes, ${record}>
`
}

/** The compiler names the event by its declaration in the service; its type is written out beside. */
function withFollowedEvent(routers: string): string {
  const start = routers.indexOf(TRACKED)
  if (start < 0) return routers
  let end = start + TRACKED.length
  for (let open = 1; open > 0; end += 1) {
    const character = routers[end]
    if (character === undefined) throw new Error('The compiler writes streams in another way.')
    if (character === '<') open += 1
    if (character === '>') open -= 1
  }
  return `${routers.slice(0, start)}Tracked<FollowedEvent>${withFollowedEvent(routers.slice(end))}`
}
