/** What every router of the tree says about itself: the caller's context is the service's business. */
const ROOT_TYPES =
  /TRPCBuiltRouter<\{\s+ctx: [\s\S]*?errorShape: (\{[\s\S]*?\n {8}\});\s+transformer: false;\s+\}/g

/**
 * The router's type as one declaration that needs nothing but `@trpc/server`, made from what the compiler wrote for
 * `routerRecord.ts`.
 *
 * @throws when something of the service's own code is left in it
 */
export function routerDeclaration(emitted: string): string {
  const start = emitted.indexOf('TRPCDecorateCreateRouterOptions<')
  const errorShape = ROOT_TYPES.exec(emitted)?.[1]
  ROOT_TYPES.lastIndex = 0
  if (start < 0 || errorShape === undefined) throw new Error('The compiler writes routers in another way.')
  const record = emitted
    .slice(start)
    .replaceAll(ROOT_TYPES, 'TRPCBuiltRouter<RootTypes')
    .replaceAll(/\{\s+contract: import\("[^"]*"\)\.RouteContract;\s+\}/g, 'object')
    .replaceAll('import("@trpc/server").', '')
    .replaceAll(/^ +/gm, (indent) => '\t'.repeat(indent.length / 4))
    .trimEnd()
  const left = /import\("[^"]*"\)[.\w]*/.exec(record)?.[0]
  if (left !== undefined)
    throw new Error(`The router's type speaks of ${left}: give its procedure a type of its own.`)
  const imported = [...new Set((errorShape + record).match(/\bTRPC\w+/g))].sort()
  return `import type {
${imported.map((name) => `\t${name},`).join('\n')}
} from '@trpc/server'

interface RootTypes {
	ctx: object
	meta: object
	errorShape: ${errorShape.replaceAll('import("@trpc/server").', '').replaceAll(/^ +/gm, (indent) => '\t'.repeat(indent.length / 4 - 1))}
	transformer: false
}

/** Every procedure of the service, as \`/trpc\` serves it. */
export type AppRouter = TRPCBuiltRouter<RootTypes, ${record.replace(/;$/, '')}>
`
}
