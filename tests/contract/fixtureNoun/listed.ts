/** Lists the fixture in the router, as a developer does with a new noun: the one line outside of its folder. */
import { join } from 'node:path'
import { plugin } from 'bun'

plugin({
  name: 'fixture',
  setup(build) {
    build.onLoad({ filter: /\/core\/src\/router\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      const listed = text.replace(
        'export const appRouter = router({\n',
        `import { fixtureRoutes } from '${join(import.meta.dir, 'routes.ts')}'\n$&  fixtures: fixtureRoutes,\n`,
      )
      if (listed === text) throw new Error('The list of nouns is written in another way.')
      return { contents: listed, loader: 'ts' }
    })
  },
})
