import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { type SourceFile, sourcesOf } from './sources.ts'

/** Permitted imports of each package, in addition to its own files and the modules of Node and Bun. */
const MAY_IMPORT: Readonly<Record<string, RegExp>> = {
  core: /^(@trpc\/server|zod|kysely|pg|pino|prom-client|undici\/index\.js|ipaddr\.js|decimal\.js|nodemailer|effect|@effect\/schema)(\/|$)/,
  gateway:
    /^(@creel\/core|creel-client|@modelcontextprotocol\/server|@trpc\/server|elysia|zod|pino|prom-client|swagger-ui-dist|ipaddr\.js|undici\/lib\/llhttp|bun:ffi)(\/|$)/,
  jobs: /^(@creel\/core|pg-boss|pino)(\/|$)/,
  migrations: /^(kysely|pg)(\/|$)/,
  // The public API alone. Functions of the service come as parameters.
  'clients/terminal': /^(creel-client|commander|log-update|zod)(\/|$)/,
  // Only types of core, and the words of the engine: the page loads no code of the service.
  console:
    /^(@creel\/core|@trpc\/(client|server)|react|react-dom|@tanstack\/react-(query|virtual)|wouter|lucide-react|@codemirror|@lezer|@fontsource-variable)(\/|$)/,
}

/** The rooms of core that every noun may use. Each may import those before it. */
const FOUNDATIONS = ['engine', 'platform', 'cells', 'plans', 'api', 'dispatch']

/** The room that writes each table; null for a table that only triggers write. */
const WRITERS: Readonly<Record<string, string | null>> = {
  actionFlows: 'deliveries',
  actions: 'actions',
  alertChannels: 'alertChannels',
  alertDeliveries: 'alertChannels',
  alerts: 'alerts',
  apiKeyWindows: 'keys',
  apiKeys: 'keys',
  auditEntries: 'audit',
  attemptBytes: 'deliveries',
  attemptDetails: 'deliveries',
  concurrencySlots: 'api',
  contacts: 'contacts',
  deliveries: 'deliveries',
  deliveryAttempts: 'deliveries',
  deliveryWorkers: 'deliveries',
  // Rooms that add, move or delete requests use its updateCounters.
  endpointCounters: 'endpoints',
  failingActions: 'deliveries',
  rejectionMinutes: 'capture',
  // Triggers count, so that no writer can forget it.
  endpointRevisions: null,
  endpoints: 'endpoints',
  eventClaims: 'capture',
  eventLabels: 'events',
  eventSources: 'events',
  eventSubscriptions: 'subscriptions',
  eventDeliveries: 'subscriptions',
  gatewayHeartbeats: 'watchdogs',
  gatewayOutages: 'watchdogs',
  importBatches: 'exports',
  imports: 'exports',
  incidents: 'alerts',
  installation: 'secrets',
  requests: 'requests',
  responseUses: 'endpoints',
  listenerReplays: 'listeners',
  oauthGrants: 'oauth',
  reconciliationEvents: 'reconcile',
  reconciliations: 'reconcile',
  replayItems: 'rehearsals',
  replays: 'rehearsals',
  relayEndpoints: 'relay',
  ruleFaults: 'transformations',
  searchPages: 'requests',
  searchProgress: 'requests',
  searchSlices: 'requests',
  sessionWindows: 'sessions',
  sessions: 'sessions',
  shareLinks: 'shareLinks',
  signInLinks: 'sessions',
  transformationRuleVersions: 'transformations',
  transformationRules: 'transformations',
  watchdogCriteria: 'watchdogs',
  // Progress of retention in counting the bytes of old rows.
  uncountedRows: 'retention',
  watchdogs: 'watchdogs',
  workspaceMoves: 'cells',
  workspaces: 'workspaces',
  workspaceKeys: 'workspaces',
  erasures: 'erasures',
  requestOriginals: 'requests',
  sealings: 'sealing',
}

/** Rooms that write a table of another room, with the reason. This list gets no new rows. */
const SECOND_WRITERS: Readonly<Record<string, readonly string[]>> = {
  // The transaction of a delivery ends the drain.
  actions: ['deliveries'],
  // Retention deletes rows in batches whose statements also change counters and sums.
  apiKeyWindows: ['retention'],
  attemptBytes: ['retention'],
  attemptDetails: ['retention'],
  concurrencySlots: ['retention'],
  deliveries: ['retention'],
  deliveryAttempts: ['retention'],
  endpoints: ['retention'],
  eventClaims: ['retention'],
  // The numbers of the plans at the last start.
  installation: ['planLimits', 'cells'],
  // Minutes past their time are deleted by the room that reads them.
  rejectionMinutes: ['traffic'],
  // Captures, imports, the bin and retention change rows and counters in one statement.
  requests: ['recycleBin', 'capture', 'retention', 'exports'],
  // The capture statement records matches, in the transaction of the captures.
  watchdogCriteria: ['capture'],
  endpointRevisions: ['cells'],
  workspaces: ['cells'],
}

const everything = await sourcesOf(
  'core',
  'gateway',
  'jobs',
  'migrations',
  'creel',
  'clients/terminal',
  'clients/typescript',
  'console',
  'scripts',
  'bench',
  'tests',
)
const product = everything.filter(({ path, isTest }) => !isTest && /^(?:clients\/)?\w+\/src\//.test(path))
const core = product.filter(({ path }) => path.startsWith('core/src/'))
const byPath = new Map(everything.map((file) => [file.path, file]))

/** The file that a relative import names. */
const target = (file: SourceFile, from: string) => join(dirname(file.path), from)

/** The folder of a file's package. */
const packageOf = (path: string) => /^(?:clients\/)?[^/]+/.exec(path)?.[0]

/** The folder of a file below core/src: a noun, or one of the foundations; undefined at the root. */
const roomOf = (path: string) => /^core\/src\/(\w+)\//.exec(path)?.[1]

/** {@link roomOf}, with separate rooms inside engine and platform. */
const partOf = (path: string) =>
  /^core\/src\/((?:engine|platform)\/\w+(?=\/)|(?!engine|platform)\w+(?=\/))/.exec(path)?.[1]

/** Every fault as `file: what`; a test expects none. */
const faults = (
  files: readonly SourceFile[],
  find: (file: SourceFile) => readonly string[],
): readonly string[] => files.flatMap((file) => find(file).map((what) => `${file.path}: ${what}`))

const importsWhere = (is: (from: string, file: SourceFile) => boolean) => (file: SourceFile) =>
  file.imports.map(({ from }) => from).filter((from) => is(from, file))

describe('packages', () => {
  test.each(Object.entries(MAY_IMPORT))('%s imports only what it may', (name, allowed) => {
    const own = product.filter(({ path }) => path.startsWith(`${name}/src/`))
    const isForeign = (from: string) => !/^(\.|node:|bun$)/.test(from) && !allowed.test(from)
    expect(own.length).toBeGreaterThan(0)
    expect(faults(own, importsWhere(isForeign))).toEqual([])
  })

  test('no file reaches into another package past its exports', () => {
    const leaves = (from: string, file: SourceFile) =>
      from.startsWith('.') && ![packageOf(file.path), 'dist', 'docs'].includes(packageOf(target(file, from)))
    expect(faults(product, importsWhere(leaves))).toEqual([])
  })

  test('a function or constant is exported only if another file names it', () => {
    const named = new Map<string, number>()
    for (const { text } of everything)
      for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) named.set(word, (named.get(word) ?? 0) + 1)
    const unnamed = ({ path, text }: SourceFile) =>
      path.startsWith('migrations/')
        ? []
        : [...text.matchAll(/^export (?:async )?(?:function\*? |const )(\w+)/gm)].flatMap(([, name = '']) =>
            named.get(name) === 1 ? [name] : [],
          )
    expect(faults(product, unnamed)).toEqual([])
  })

  test('the console loads nothing of core but its words', () => {
    const page = product.filter(({ path }) => path.startsWith('console/src/'))
    const loads = ({ imports }: SourceFile) =>
      imports
        .filter(({ from, isTypeOnly }) => from.startsWith('@creel/core') && !isTypeOnly)
        .map(({ from }) => from)
        .filter((from) => from !== '@creel/core/engine/words')
    expect(faults(page, loads)).toEqual([])
  })

  test.each([
    ['states', /'Failed',\s*'Errored',\s*'DeadLetter'/],
    ['verdicts', /'failed',\s*'unsigned',\s*'unverifiable'/],
    ['scopes', /'read',\s*'write',\s*'admin'/],
  ])('%s are listed once, in the engine', (_, list) => {
    // A migration is frozen in time, and imports nothing.
    const listing = product.filter(({ path, text }) => !path.startsWith('migrations/') && list.test(text))
    expect(listing.map(({ path }) => path)).toEqual(['core/src/engine/words/index.ts'])
  })

  test('the state of a request has one expression in SQL', () => {
    const asking = product.filter(({ text }) => /when r\.dispatch_state = 'Skipped'/.test(text))
    expect(asking.map(({ path }) => path)).toEqual(['core/src/requests/state.ts'])
  })

  test("undici is the real one, and only core's outbound client has it; one file of the gateway has its parser", () => {
    const isWrong = (from: string, file: SourceFile) => {
      if (/^undici\/lib\/llhttp\//.test(from)) return file.path !== 'gateway/src/http/llhttp.ts'
      return (
        from === 'undici' || (/^undici\//.test(from) && !file.path.startsWith('core/src/platform/outbound/'))
      )
    }
    expect(faults(product, importsWhere(isWrong))).toEqual([])
  })

  test('the system is called past Bun in one place', () => {
    const calls = (from: string, file: SourceFile) =>
      from === 'bun:ffi' && file.path !== 'gateway/src/http/backlog.ts'
    expect(faults(everything, importsWhere(calls))).toEqual([])
  })

  test('effect schema stays in its one room', () => {
    const isEffect = (from: string, file: SourceFile) =>
      /^(effect|@effect\/schema)(\/|$)/.test(from) && !file.path.startsWith('core/src/engine/rules/')
    expect(faults(everything, importsWhere(isEffect))).toEqual([])
  })

  test('only the program and its start read the environment', () => {
    const readers = product.filter(({ text }) => /\bprocess\.env\b/.test(withoutComments(text)))
    expect(
      readers.map(({ path }) => path).filter((path) => !/^(creel|clients\/terminal)\/src\//.test(path)),
    ).toEqual([])
  })

  test("core asks its clock for the time of day, never the machine's", () => {
    const asks = (file: SourceFile) =>
      file.path === 'core/src/api/services.ts'
        ? []
        : (withoutComments(file.text).match(/\bDate\.now\(\)|\bnew Date\(\)/g) ?? [])
    expect(faults(core, asks)).toEqual([])
  })
})

describe('folders of a package', () => {
  test.each(['gateway', 'jobs', 'creel', 'clients/terminal', 'clients/typescript', 'console'])(
    'those of %s form no circle',
    (name) => {
      const graph = folderGraph(`${name}/src/`)
      expect(graph.size).toBeGreaterThan(1)
      expect(circlesOf(graph)).toEqual([])
    },
  )
})

describe('rooms of core', () => {
  test('the engine is pure: it imports nothing of core but itself', () => {
    const leaves = (from: string, file: SourceFile) =>
      from.startsWith('.') ? roomOf(target(file, from)) !== 'engine' : /^(kysely|pg|pino|undici)/.test(from)
    const engine = core.filter(({ path }) => roomOf(path) === 'engine')
    expect(engine.length).toBeGreaterThan(80)
    expect(faults(engine, importsWhere(leaves))).toEqual([])
  })

  test.each(FOUNDATIONS.map((name, at) => [name, FOUNDATIONS.slice(0, at + 1)] as const))(
    '%s imports only what stands below it',
    (name, below) => {
      const climbs = (from: string, file: SourceFile) =>
        from.startsWith('.') && !below.includes(roomOf(target(file, from)) ?? '')
      expect(
        faults(
          core.filter(({ path }) => roomOf(path) === name),
          importsWhere(climbs),
        ),
      ).toEqual([])
    },
  )

  test('rooms meet through their index only', () => {
    const bypasses = (from: string, file: SourceFile) => {
      const to = from.startsWith('.') ? target(file, from) : ''
      const part = partOf(to)
      if (part === undefined || part === partOf(file.path) || roomOf(to) === 'api') return false
      return !to.endsWith('/index.ts')
    }
    const below = core.filter(({ path }) => partOf(path) !== undefined && roomOf(path) !== 'operator')
    expect(faults(below, importsWhere(bypasses))).toEqual([])
  })

  test('rooms form no circle, types counted', () => {
    expect(circlesOf(roomGraph())).toEqual([])
  })

  test('no file imports itself in the end, types counted', () => {
    expect(circlesOf(fileGraph())).toEqual([])
  })

  test('a table is written by one room, and a second writer is listed', () => {
    const writers = new Set(
      core.flatMap((file) => writesOf(file).map((table) => `${table} in ${writerOf(file.path)}`)),
    )
    const owners = Object.entries(WRITERS).flatMap(([table, room]) =>
      room === null ? [] : [`${table} in ${room}`],
    )
    const others = Object.entries(SECOND_WRITERS).flatMap(([table, rooms]) =>
      rooms.map((room) => `${table} in ${room}`),
    )
    const isOwned = (writer: string) => owners.includes(writer)
    // Exact, so that a writer that is gone leaves the list.
    expect([...writers].filter((writer) => !isOwned(writer)).sort()).toEqual(others.sort())
  })

  test('the counters of endpoints are written in one module', () => {
    const writing = core.filter((file) => writesOf(file).includes('endpointCounters'))
    expect(writing.map(({ path }) => path)).toEqual(['core/src/endpoints/counters.ts'])
  })

  test('every table has its writers listed', () => {
    const tables = byPath.get('core/src/platform/db/tables.ts')?.text ?? ''
    const names = [...tables.matchAll(/^ {2}(\w+): \w+Table$/gm)].map((match) => match[1] ?? '')
    expect(names.length).toBeGreaterThan(0)
    expect(names.sort()).toEqual(Object.keys(WRITERS).sort())
  })
})

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
}

/** The tables, in camel case, that a file inserts into, updates or deletes from: by the builder or in `sql`. */
function writesOf({ text }: SourceFile): readonly string[] {
  const code = withoutComments(text)
  const built = [...code.matchAll(/\.(?:insertInto|updateTable|deleteFrom|mergeInto)\('(\w+)/g)]
  const written = [...code.matchAll(/\b(?:insert\s+into|update|delete\s+from)\s+([a-z_]+)\b/g)]
  const names = [...built, ...written].map((match) => camelCase(match[1] ?? ''))
  return [...new Set(names)].filter((name) => name in WRITERS)
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** The name of a file's room in {@link WRITERS}. */
function writerOf(path: string): string {
  return partOf(path)?.split('/').at(-1) ?? ''
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>

function fileGraph(): Graph {
  return new Map(
    product.map((file) => [
      file.path,
      new Set(file.imports.filter(({ from }) => from.startsWith('.')).map(({ from }) => target(file, from))),
    ]),
  )
}

/** Folders of a package, and its files beside them, by those that they import. Some of the files import folders, some are imported by them. */
function folderGraph(under: string): Graph {
  const nodeOf = (path: string) => path.slice(under.length).split('/')[0] ?? ''
  const graph = new Map<string, Set<string>>()
  for (const file of product.filter(({ path }) => path.startsWith(under))) {
    const reached = graph.get(nodeOf(file.path)) ?? new Set()
    graph.set(nodeOf(file.path), reached)
    for (const { from } of file.imports) {
      const to = from.startsWith('.') ? target(file, from) : ''
      if (to.startsWith(under) && nodeOf(to) !== nodeOf(file.path)) reached.add(nodeOf(to))
    }
  }
  return graph
}

/** Rooms of core by the rooms they import; the engine and the platform each count as one. */
function roomGraph(): Graph {
  const graph = new Map<string, Set<string>>()
  for (const file of core) {
    const room = roomOf(file.path)
    if (room === undefined) continue
    const reached = graph.get(room) ?? new Set()
    graph.set(room, reached)
    for (const { from } of file.imports) {
      const to = from.startsWith('.') ? roomOf(target(file, from)) : undefined
      if (to !== undefined && to !== room) reached.add(to)
    }
  }
  return graph
}

/** Every circle of a graph, each as the path around it. */
function circlesOf(graph: Graph): readonly string[] {
  const found: string[] = []
  const state = new Map<string, 'open' | 'done'>()
  const visit = (node: string, trail: readonly string[]): void => {
    if (state.get(node) === 'done') return
    if (state.get(node) === 'open') {
      found.push([...trail.slice(trail.indexOf(node)), node].join(' → '))
      return
    }
    state.set(node, 'open')
    for (const next of graph.get(node) ?? []) visit(next, [...trail, node])
    state.set(node, 'done')
  }
  for (const node of graph.keys()) visit(node, [])
  return found
}
