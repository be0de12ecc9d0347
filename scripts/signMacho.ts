import { createHash } from 'node:crypto'

/** Values from `mach-o/loader.h`. */
const MACHO_64 = 0xfeedfacf
const HEADER_BYTES = 32
const LC_SEGMENT_64 = 0x19
const LC_CODE_SIGNATURE = 0x1d

/** Values from `kern/cs_blobs.h`. A signature is big-endian, the rest of the file is not. */
const SUPER_BLOB = 0xfade0cc0
const CODE_DIRECTORY = 0xfade0c02
const SUPER_BLOB_BYTES = 20
const CODE_DIRECTORY_BYTES = 88
/** The version that names the executable segment. */
const CODE_DIRECTORY_VERSION = 0x20400
/** Ad hoc, and made by a linker: `codesign` may replace it. */
const FLAGS = 0x20002
const MAIN_EXECUTABLE = 1n
const SHA256 = { type: 2, bytes: 32 } as const
const PAGE_BITS = 12
const PAGE_BYTES = 1 << PAGE_BITS
/** The system maps the last segment in multiples of this, on either processor. */
const SEGMENT_ALIGNMENT = 0x4000n

const IDENTIFIER = Buffer.from('creel\0')

/** Offsets of load commands in the file. */
interface Commands {
  readonly signature: number
  readonly linkedit: number
  readonly text: number
}

/**
 * Signs a program for macOS ad hoc, in place of the signature that it has: a hash of each page, and no certificate.
 * macOS ends a program whose pages do not match their hashes, and on arm64 one without a signature.
 *
 * @param program a 64-bit Mach-O executable for one processor, whose signature is its last part
 * @returns its bytes; the same for the same program
 * @throws Error when it is something else
 */
export function signMacho(program: Buffer): Buffer {
  if (program.readUInt32LE(0) !== MACHO_64) throw new Error('The program is no Mach-O of 64 bits.')
  const commands = commandsOf(program)
  const codeBytes = program.readUInt32LE(commands.signature + 8)
  const pages = Math.ceil(codeBytes / PAGE_BYTES)
  const hashesAt = CODE_DIRECTORY_BYTES + IDENTIFIER.length
  const directoryBytes = hashesAt + pages * SHA256.bytes
  const signatureBytes = SUPER_BLOB_BYTES + directoryBytes

  const signed = Buffer.alloc(codeBytes + signatureBytes)
  program.copy(signed, 0, 0, codeBytes)
  // These are part of the first page: they are set before it is hashed.
  signed.writeUInt32LE(signatureBytes, commands.signature + 12)
  const linkeditAt = signed.readBigUInt64LE(commands.linkedit + 40)
  const linkeditBytes = BigInt(signed.length) - linkeditAt
  signed.writeBigUInt64LE(roundedUp(linkeditBytes), commands.linkedit + 32)
  signed.writeBigUInt64LE(linkeditBytes, commands.linkedit + 48)

  const directory = signed.subarray(codeBytes + SUPER_BLOB_BYTES)
  writeWords(signed.subarray(codeBytes), [SUPER_BLOB, signatureBytes, 1, 0, SUPER_BLOB_BYTES])
  writeWords(directory, [
    CODE_DIRECTORY,
    directoryBytes,
    CODE_DIRECTORY_VERSION,
    FLAGS,
    hashesAt,
    CODE_DIRECTORY_BYTES,
    0, // no special slots
    pages,
    codeBytes,
  ])
  directory.set([SHA256.bytes, SHA256.type, 0, PAGE_BITS], 36)
  directory.writeBigUInt64BE(signed.readBigUInt64LE(commands.text + 40), 64)
  directory.writeBigUInt64BE(signed.readBigUInt64LE(commands.text + 48), 72)
  directory.writeBigUInt64BE(MAIN_EXECUTABLE, 80)
  IDENTIFIER.copy(directory, CODE_DIRECTORY_BYTES)
  for (let page = 0; page < pages; page++) {
    const end = Math.min((page + 1) * PAGE_BYTES, codeBytes)
    const hash = createHash('sha256')
      .update(signed.subarray(page * PAGE_BYTES, end))
      .digest()
    hash.copy(directory, hashesAt + page * SHA256.bytes)
  }
  return signed
}

function writeWords(at: Buffer, words: readonly number[]): void {
  for (const [index, word] of words.entries()) at.writeUInt32BE(word, index * 4)
}

const roundedUp = (bytes: bigint) =>
  ((bytes + SEGMENT_ALIGNMENT - 1n) / SEGMENT_ALIGNMENT) * SEGMENT_ALIGNMENT

function commandsOf(program: Buffer): Commands {
  const found = new Map<string, number>()
  let at = HEADER_BYTES
  for (let left = program.readUInt32LE(16); left > 0; left--) {
    const kind = program.readUInt32LE(at)
    if (kind === LC_CODE_SIGNATURE) found.set('signature', at)
    if (kind === LC_SEGMENT_64) {
      found.set(
        program
          .subarray(at + 8, at + 24)
          .toString('latin1')
          .replace(/\0+$/, ''),
        at,
      )
    }
    at += program.readUInt32LE(at + 4)
  }
  const [signature, linkedit, text] = ['signature', '__LINKEDIT', '__TEXT'].map((name) => found.get(name))
  if (signature === undefined || linkedit === undefined || text === undefined) {
    throw new Error('The program has no signature to replace, or not the segments of an executable.')
  }
  const end = program.readUInt32LE(signature + 8) + program.readUInt32LE(signature + 12)
  if (end > program.length) throw new Error('The program ends before its signature does.')
  return { signature, linkedit, text }
}
