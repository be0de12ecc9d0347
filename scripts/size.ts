/**
 * `bun scripts/size.ts`: lines of the product by room: TypeScript and CSS without tests, data and generated files.
 *
 * Each room has a bound in `sizes.json`, which only falls: `--lower` writes today's sizes where they are below it. A
 * room over its bound fails the check. A new room needs a line.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const BOUNDS = join(import.meta.dir, 'sizes.json')
/** Packages that are shipped. */
const PRODUCT = /^(core|gateway|jobs|creel|migrations|console|clients\/(typescript|terminal))\//
/** Tests, and what scripts write. */
const NO_CODE = [/\.test\.tsx?$/, /^core\/src\/platform\/db\/(rows|tables)\.ts$/]

/** Lines and files of one room. */
interface Size {
  readonly files: number
  readonly lines: number
}

/** The room of a file: its package, and in `core` the folder of the noun. */
function roomOf(path: string): string {
  const [first = '', second = '', third = '', fourth] = path.split('/')
  if (first === 'clients') return `${first}/${second}`
  return first === 'core' && second === 'src' && fourth !== undefined ? `core/${third}` : first
}

function sizes(): Map<string, Size> {
  const listed = Bun.spawnSync(['git', 'ls-files', '-z', '*.ts', '*.tsx', '*.css'], { cwd: ROOT })
  const paths = listed.stdout
    .toString()
    .split('\0')
    .filter((path) => PRODUCT.test(path))
  const counted = paths.filter((path) => !NO_CODE.some((pattern) => pattern.test(path)))
  const rooms = Map.groupBy(counted, roomOf)
  return new Map(
    [...rooms].map(([room, files]) => {
      const lines = files.reduce((sum, path) => sum + linesOf(readFileSync(join(ROOT, path), 'utf8')), 0)
      return [room, { files: files.length, lines }]
    }),
  )
}

const linesOf = (text: string): number => text.split('\n').length - 1

function readBounds(): Record<string, number> {
  const parsed: unknown = JSON.parse(readFileSync(BOUNDS, 'utf8'))
  const rooms = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : []
  return Object.fromEntries(rooms.map(([room, bound]) => [room, Number(bound)]))
}

/** Rooms that are larger than their bound, as lines to print. Empty when none is. */
export function roomsOverBound(): string[] {
  const bounds = readBounds()
  return [...sizes()].flatMap(([room, { lines }]) => {
    const bound = bounds[room]
    if (bound === undefined) return [`${room}: ${lines} lines, and no bound in scripts/sizes.json`]
    return lines > bound ? [`${room}: ${lines} lines, its bound is ${bound}`] : []
  })
}

/** The sum of all rooms, as one line. */
export function sizeInWords(): string {
  const all = [...sizes().values()]
  const sum = (of: (size: Size) => number) => all.reduce((total, size) => total + of(size), 0)
  return `${sum(({ lines }) => lines)} lines in ${sum(({ files }) => files)} files`
}

if (import.meta.main) {
  const rooms = [...sizes()].sort(([, a], [, b]) => b.lines - a.lines)
  for (const [room, { files, lines }] of rooms)
    console.log(`${String(lines).padStart(7)} ${String(files).padStart(5)}  ${room}`)
  console.log(sizeInWords())
  if (process.argv.includes('--lower')) {
    const bounds = readBounds()
    const lowered = rooms.map(([room, { lines }]) => [room, Math.min(bounds[room] ?? lines, lines)])
    writeFileSync(BOUNDS, `${JSON.stringify(Object.fromEntries(lowered.sort()), null, 2)}\n`)
  }
  const over = roomsOverBound()
  for (const line of over) console.error(line)
  process.exitCode = over.length > 0 ? 1 : 0
}
