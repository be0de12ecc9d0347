import { beforeAll, describe, expect, test } from 'bun:test'
import { cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'bun'
import packageJson from '../../clients/typescript/package.json' with { type: 'json' }
import { buildClient } from '../../scripts/client/build.ts'
import { clientTarball } from '../../scripts/release/npmPackages.ts'
import { temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** The package as users get it: packed, installed in an empty folder, compiled with their settings, and run. */

const ROOT = join(import.meta.dir, '../..')
const CLIENT_MODULES = join(ROOT, 'clients/typescript/node_modules')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const NODE = Bun.which('node')
const NPM = Bun.which('npm')

let service: TestService
let project: string
let built: string

// Bun's runner sets the variable of Jest's workers, and Playwright refuses to run within Jest.
const { JEST_WORKER_ID: _worker, ...environment } = process.env

async function run(cwd: string, ...command: string[]): Promise<string> {
  const child = Bun.spawn(command, {
    cwd,
    env: {
      ...environment,
      CREEL_URL: service.baseUrl,
      CREEL_KEY: service.alice.key,
      // Caches of the runners go with the project.
      TMPDIR: cwd,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${out}${error}`)
  return out
}

/** The installed copy of a registry's package: the suite needs no registry. */
const installed = (name: string) => realpath(join(CLIENT_MODULES, name))

beforeAll(async () => {
  service = await startService({ limits: { apiRatePerMinute: 100_000 } })
  const folder = await temporaryFolder()
  built = join(folder, 'built')
  project = join(folder, 'project')
  await buildClient(built)
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{"name":"stranger","private":true,"type":"module"}')
  await cp(join(import.meta.dir, 'project/story.ts'), join(project, 'story.ts'))
  await install()
})

/** With npm where it is there, as most do; Bun installs the same. */
async function install(): Promise<void> {
  const helpers = await realpath(join(await installed('openapi-fetch'), '../openapi-typescript-helpers'))
  const others = [await installed('openapi-fetch'), helpers]
  const trpc = [await installed('@trpc/client'), await installed('@trpc/server')]
  const npm = NPM === null ? [process.execPath] : [NPM]
  const tarball = await clientTarball({ version: packageJson.version, repository: undefined }, built)
  await writeFile(join(built, tarball.name), tarball.contents)
  // Without the compiler that tRPC names as a peer: it would come from the registry.
  const options =
    NPM === null ? [] : ['--install-links', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund']
  await run(project, ...npm, 'install', ...options, join(built, tarball.name), ...others, ...trpc)
}

/** Settings of strict projects; no check is skipped. */
const compilerOptions = {
  target: 'ES2022',
  lib: ['ES2023', 'DOM', 'DOM.Iterable'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
}

describe('a project in an empty folder', () => {
  test.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('compiles with module %s, resolved as %s', async (module, moduleResolution) => {
    const config = {
      compilerOptions: { ...compilerOptions, module, moduleResolution, outDir: `out-${moduleResolution}` },
      files: ['story.ts', 'globals.d.ts'],
    }
    await writeFile(
      join(project, 'globals.d.ts'),
      'declare const process: { readonly argv: readonly string[] }\n',
    )
    await writeFile(join(project, `tsconfig.${moduleResolution}.json`), JSON.stringify(config))
    await run(
      project,
      process.execPath,
      '--bun',
      TSC,
      '--singleThreaded',
      '-p',
      `tsconfig.${moduleResolution}.json`,
    )
  })

  test.skipIf(NODE === null)('tells its story under Node, from what was compiled', async () => {
    await using receiver = await startReceiver()
    const said = await run(
      project,
      NODE ?? '',
      'out-nodenext/story.js',
      service.baseUrl,
      service.alice.key,
      receiver.url,
    )
    expect(said).toBe('story told\n')
  })

  test('tells its story under Bun', async () => {
    await using receiver = await startReceiver()
    const said = await run(
      project,
      process.execPath,
      'story.ts',
      service.baseUrl,
      service.alice.key,
      receiver.url,
    )
    expect(said).toBe('story told\n')
  })

  test('needs less than 8,000 bytes in a browser that makes no raw calls', async () => {
    const result = await Bun.build({
      entrypoints: [join(project, 'node_modules/creel-client/index.js')],
      target: 'browser',
      minify: true,
      splitting: true,
    })
    const bundle = result.outputs.find(({ kind }) => kind === 'entry-point')
    const text = (await bundle?.text()) ?? ''
    expect(text).not.toMatch(/(^|;)import\b[^(]/m)
    const bytes = gzipSync(text).length
    expect(bytes).toBeGreaterThan(1000)
    expect(bytes).toBeLessThan(8000)
  })
})

/** The command with which each runner runs its example. */
const RUNNERS: Readonly<Record<string, { file: string; as: string; runner?: string; command: string[] }>> = {
  'bun:test': {
    file: 'bun.example.ts',
    as: 'bun.test.ts',
    command: [process.execPath, 'test', './bun.test.ts'],
  },
  'node:test': {
    file: 'node.example.mjs',
    as: 'node.test.mjs',
    command: [NODE ?? '', '--test', 'node.test.mjs'],
  },
  Vitest: {
    file: 'vitest.example.ts',
    as: 'vitest.test.ts',
    runner: 'vitest',
    command: [NODE ?? '', 'node_modules/vitest/vitest.mjs', 'run', 'vitest.test.ts'],
  },
  Jest: {
    file: 'jest.example.mjs',
    as: 'jest.test.mjs',
    runner: 'jest',
    // Jest runs ES modules only with this option.
    command: [
      ...[NODE ?? '', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js', 'jest.test.mjs'],
      ...['--testMatch', '**/jest.test.mjs', '--transform', '{}', '--rootDir', '.'],
    ],
  },
  Playwright: {
    file: 'playwright.example.ts',
    as: 'playwright.spec.ts',
    runner: '@playwright/test',
    command: [NODE ?? '', 'node_modules/@playwright/test/cli.js', 'test', 'playwright.spec.ts'],
  },
}

describe('creel-client/testing in its examples', () => {
  test.each(Object.entries(RUNNERS))('under %s', async (_name, { file, as, runner, command }) => {
    if (command[0] === '') return
    const examples = join(ROOT, 'clients/typescript/examples')
    await cp(join(examples, file), join(project, as))
    await cp(join(examples, 'notify.mjs'), join(project, 'notify.mjs'))
    if (runner !== undefined) {
      await mkdir(join(project, 'node_modules', runner, '..'), { recursive: true })
      await symlink(await installed(runner), join(project, 'node_modules', runner))
    }
    await run(project, ...command)
    expect((await service.alice.get('/api/v1/endpoints')).body).toMatchObject({ totalCount: 0 })
  })
})
