/**
 * `bun scripts/client/build.ts [folder]`: makes the package as it is packed, in `clients/typescript/dist` unless
 * told: JavaScript and declarations for Node, Bun, Deno and browsers, and a manifest that points at them. `bun run
 * client:pack` makes the tarball.
 */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { routerDeclaration } from './routerDeclaration.ts'
import { makeClientTypes } from './types.ts'

const ROOT = join(import.meta.dir, '../..')
const PACKAGE = join(ROOT, 'clients/typescript')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

if (import.meta.main) await buildClient(resolve(process.argv[2] ?? join(PACKAGE, 'dist')))

/**
 * Builds the package.
 *
 * @param folder is emptied first
 */
export async function buildClient(folder: string): Promise<void> {
  await makeClientTypes()
  await rm(folder, { recursive: true, force: true })
  // Below the package, so that the compiler finds what the package needs.
  const scratch = await mkdtemp(join(PACKAGE, 'node_modules', '.build-'))
  try {
    const router = join(scratch, 'creelRouter.d.ts')
    await compile('tsconfig.router.json', ['--outDir', join(scratch, 'core')])
    const emitted = await readFile(join(scratch, 'core/clients/typescript/routerRecord.d.ts'), 'utf8')
    await writeFile(router, routerDeclaration(emitted))
    await compileSources(folder, router, scratch)
    await writeFile(join(folder, 'router.d.ts'), await readFile(router, 'utf8'))
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
  await fixDeclarations(folder)
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`)
  await cp(join(PACKAGE, 'examples'), join(folder, 'examples'), { recursive: true })
  await cp(join(PACKAGE, 'README.md'), join(folder, 'README.md'))
  await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

/** Compiles the sources against the rolled-up router: they need nothing of the service's own code. */
async function compileSources(folder: string, router: string, scratch: string): Promise<void> {
  const config = join(scratch, 'tsconfig.json')
  const text = {
    extends: join(PACKAGE, 'tsconfig.json'),
    compilerOptions: { rootDir: join(PACKAGE, 'src'), paths: { '@creel/core': [router] } },
    include: [join(PACKAGE, 'src')],
  }
  await writeFile(config, JSON.stringify(text))
  await compile(config, ['--outDir', folder])
}

/** Compiles on one thread: several would each compute the router's type. */
async function compile(config: string, options: readonly string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, '--bun', TSC, '--singleThreaded', '-p', config, ...options], {
    cwd: PACKAGE,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${relative(ROOT, config)} does not compile:\n${output}`)
}

/** Declarations keep the sources' `.ts` in what they import; older compilers look for such files. */
async function fixDeclarations(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue
    const text = await readFile(join(folder, name), 'utf8')
    await writeFile(join(folder, name), text.replaceAll(/(['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2'))
  }
}

/** The workspace's manifest, with its entries where the build put them, and without what only we need. */
async function manifest(): Promise<Record<string, unknown>> {
  const own = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'))
  const {
    private: _private,
    devDependencies: _development,
    scripts: _refusal,
    exports: sources,
    ...kept
  } = own
  const entries = Object.entries<string>(sources).map(([name, source]) => {
    const file = source.replace('./src/', './').replace(/\.ts$/, '')
    return [name, { types: `${file}.d.ts`, default: `${file}.js` }]
  })
  return { ...kept, sideEffects: false, engines: { node: '>=20' }, exports: Object.fromEntries(entries) }
}
