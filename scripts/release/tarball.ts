import { gzipSync } from 'bun'

export interface TarballFile {
  /** Path within the package, in ASCII; at most 92 characters. */
  readonly path: string
  readonly contents: Uint8Array<ArrayBuffer>
  readonly isExecutable?: boolean
}

const BLOCK_BYTES = 512
const PATH_BYTES_MAX = 100
/** 1985-10-26, in seconds: what npm writes, since archives of 1970 confuse some programs. */
const MODIFIED_SECONDS = 499_162_500
/** Byte of a gzip header that names the operating system, and its value for any. */
const GZIP_SYSTEM = { at: 9, unknown: 255 } as const

/**
 * Makes an npm tarball: the files below `package/`, sorted, of one time and of no owner. The same files make the same bytes.
 *
 * @throws Error for a path that is too long for the format
 */
export function packTarball(files: readonly TarballFile[]): Uint8Array<ArrayBuffer> {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1))
  const blocks = sorted.flatMap((file) => [header(file), file.contents, padding(file.contents.length)])
  const tar = Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)])
  const packed = gzipSync(tar, { level: 6, library: 'libdeflate' })
  packed[GZIP_SYSTEM.at] = GZIP_SYSTEM.unknown
  return packed
}

const padding = (bytes: number) => Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES)

/** A header in the format ustar. */
function header({ path, contents, isExecutable = false }: TarballFile): Buffer {
  const name = `package/${path}`
  if (Buffer.byteLength(name) > PATH_BYTES_MAX) throw new Error(`The path ${name} is too long for a tarball.`)
  const block = Buffer.alloc(BLOCK_BYTES)
  const octal = (value: number, at: number, digits: number) =>
    block.write(value.toString(8).padStart(digits, '0'), at, 'latin1')
  block.write(name, 0, 'utf8')
  octal(isExecutable ? 0o755 : 0o644, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  octal(contents.length, 124, 11)
  octal(MODIFIED_SECONDS, 136, 11)
  block.fill(' ', 148, 156)
  block.write('0', 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  const checksum = block.reduce((sum, byte) => sum + byte, 0)
  block.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}
