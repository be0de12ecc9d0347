/**
 * Builds the console and packs it into one file: an index, then each file in every encoding: plain, Brotli, gzip.
 * `bun scripts/console/pack.ts [--out dist/console.pack] [--fast]`
 *
 * Layout: 4 bytes big-endian length of the index, the index as JSON, the bodies; offsets count from the end of the
 * index.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const CONSOLE = join(import.meta.dir, '../../console')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Already compressed by their own format. */
const PACKED = new Set(['.woff2'])

export type Extent = readonly [offset: number, length: number]

/** One file of the pack, as the gateway serves it under `/console/`. */
export interface PackedFile {
  readonly path: string
  readonly type: string
  /** Whether the name contains a hash of the content, so that the file may be cached for ever. */
  readonly isHashed: boolean
  /** Already compressed by its own format. It is sent unchanged, and all its bodies are the same bytes. */
  readonly isPacked: boolean
  readonly etag: string
  readonly bodies: Readonly<Record<'identity' | 'br' | 'gzip', Extent>>
}

export interface ConsolePack {
  readonly pack: Uint8Array<ArrayBuffer>
  readonly files: readonly PackedFile[]
  /** Files needed before the first screen: the scripts and styles that the page itself names. */
  readonly firstScreen: readonly PackedFile[]
}

interface Source {
  readonly path: string
  readonly plain: Uint8Array
}

/**
 * Builds and packs the console.
 *
 * @param options.fast compresses less, for development: a fifth of the time
 * @throws AggregateError of the bundler, naming each place
 */
export async function packConsole({ fast = false }: { fast?: boolean } = {}): Promise<ConsolePack> {
  const sources = await buildConsole()
  const parts: Uint8Array[] = []
  let offset = 0
  const put = (bytes: Uint8Array): Extent => {
    parts.push(bytes)
    offset += bytes.length
    return [offset - bytes.length, bytes.length]
  }
  const files = sources.map(({ path, plain }): PackedFile => {
    const extension = extname(path)
    const isPacked = PACKED.has(extension)
    const identity = put(plain)
    return {
      path,
      type: TYPES[extension] ?? 'application/octet-stream',
      isHashed: extension !== '.html',
      isPacked,
      etag: `"${Bun.hash(plain).toString(36)}"`,
      bodies: {
        identity,
        br: isPacked ? identity : put(brotli(plain, fast ? 4 : constants.BROTLI_MAX_QUALITY)),
        gzip: isPacked ? identity : put(gzipSync(plain, { level: fast ? 4 : 9 })),
      },
    }
  })
  const index = new TextEncoder().encode(JSON.stringify(files))
  const head = new Uint8Array(4)
  new DataView(head.buffer).setUint32(0, index.length)
  const page = new TextDecoder().decode(sources.find(({ path }) => path === 'index.html')?.plain)
  return {
    pack: Buffer.concat([head, index, ...parts]),
    files,
    firstScreen: files.filter(({ path }) => /\.(js|css)$/.test(path) && page.includes(`/console/${path}`)),
  }
}

async function buildConsole(): Promise<Source[]> {
  const common = {
    minify: true,
    target: 'browser',
    publicPath: '/console/',
    define: { 'process.env.NODE_ENV': '"production"' },
  } as const
  const built = await Bun.build({
    ...common,
    entrypoints: [join(CONSOLE, 'index.html')],
    splitting: true,
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  })
  const theme = await Bun.build({
    ...common,
    entrypoints: [join(CONSOLE, 'src/shell/earlyTheme.ts')],
    format: 'iife',
    naming: { entry: '[name]-[hash].[ext]' },
  })
  const sources: Source[] = []
  let early = ''
  for (const output of theme.outputs) {
    early = basename(output.path)
    sources.push({ path: early, plain: new Uint8Array(await output.arrayBuffer()) })
  }
  for (const output of built.outputs) {
    const path = basename(output.path)
    if (!path.endsWith('.html')) {
      sources.push({ path, plain: new Uint8Array(await output.arrayBuffer()) })
      continue
    }
    // Placed before the style sheet, and not as a module: the theme must be set before the first paint.
    const page = (await output.text()).replace('<title>', `<script src="/console/${early}"></script><title>`)
    sources.push({ path: 'index.html', plain: new TextEncoder().encode(page) })
  }
  return sources
}

function brotli(plain: Uint8Array, quality: number): Uint8Array {
  return brotliCompressSync(plain, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    },
  })
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(import.meta.dir, '../../dist/console.pack') },
      fast: { type: 'boolean', default: false },
    },
  })
  const startedAt = performance.now()
  const { pack, files, firstScreen } = await packConsole({ fast: values.fast })
  await mkdir(dirname(values.out), { recursive: true })
  await writeFile(values.out, pack)
  for (const { path, bodies } of files) {
    const sizes = `${bodies.identity[1]} plain, ${bodies.gzip[1]} gzip, ${bodies.br[1]} Brotli`
    console.log(`${path.padEnd(52)} ${sizes}`)
  }
  const first = firstScreen.reduce((sum, { bodies }) => sum + bodies.gzip[1], 0)
  const took = (performance.now() - startedAt).toFixed(0)
  console.log(
    `first screen ${(first / 1000).toFixed(1)} kB gzip; ${values.out}: ${pack.length} bytes in ${took} ms`,
  )
}
