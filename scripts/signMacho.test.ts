import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { signMacho } from './signMacho.ts'

const PAGE = 4096
/** Not a multiple of a page: the last hash is of what is left. */
const CODE_BYTES = 3 * PAGE + 1040
const LINKEDIT_AT = 2 * PAGE

/** A load command: its kind, its size and its words. */
function command(kind: number, bytes: number, write: (at: Buffer) => void): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUInt32LE(kind, 0)
  buffer.writeUInt32LE(bytes, 4)
  write(buffer)
  return buffer
}

const segment = (name: string, fileAt: number, fileBytes: number) =>
  command(0x19, 72, (at) => {
    at.write(name, 8, 'latin1')
    at.writeBigUInt64LE(BigInt(fileBytes), 32)
    at.writeBigUInt64LE(BigInt(fileAt), 40)
    at.writeBigUInt64LE(BigInt(fileBytes), 48)
  })

/** An executable of three segments whose signature covers a part of it only, as the compiler leaves it for x64. */
function program(): Buffer {
  const signature = command(0x1d, 16, (at) => {
    at.writeUInt32LE(CODE_BYTES, 8)
    at.writeUInt32LE(64, 12)
  })
  const commands = [
    segment('__TEXT', 0, PAGE),
    segment('__BUN', PAGE, PAGE),
    segment('__LINKEDIT', LINKEDIT_AT, CODE_BYTES + 64 - LINKEDIT_AT),
    signature,
  ]
  const header = Buffer.alloc(32)
  header.writeUInt32LE(0xfeedfacf, 0)
  header.writeUInt32LE(commands.length, 16)
  const bytes = Buffer.alloc(CODE_BYTES + 64, 'x')
  Buffer.concat([header, ...commands]).copy(bytes)
  return bytes
}

describe('a signature for macOS', () => {
  test('has the hash of every page of the file that it is in', () => {
    const signed = signMacho(program())
    const blob = signed.subarray(CODE_BYTES)
    expect([blob.readUInt32BE(0), blob.readUInt32BE(4)]).toEqual([0xfade0cc0, blob.length])
    const directory = blob.subarray(blob.readUInt32BE(16))
    expect(directory.readUInt32BE(4)).toBe(directory.length)
    expect(directory.readUInt32BE(32)).toBe(CODE_BYTES)
    const hashesAt = directory.readUInt32BE(16)
    const pages = Array.from({ length: 4 }, (_, page) =>
      signed.subarray(page * PAGE, Math.min((page + 1) * PAGE, CODE_BYTES)),
    )
    expect(directory.readUInt32BE(28)).toBe(pages.length)
    const hashes = pages.map((page) => createHash('sha256').update(page).digest('hex'))
    expect(directory.subarray(hashesAt).toString('hex')).toBe(hashes.join(''))
  })

  test('is within the last segment, and the file ends with it', () => {
    const signed = signMacho(program())
    const linkedit = signed.subarray(32 + 2 * 72)
    expect(Number(linkedit.readBigUInt64LE(40) + linkedit.readBigUInt64LE(48))).toBe(signed.length)
    expect(linkedit.readBigUInt64LE(32) % 0x4000n).toBe(0n)
    const command = signed.subarray(32 + 3 * 72)
    expect(command.readUInt32LE(8) + command.readUInt32LE(12)).toBe(signed.length)
  })

  test('made twice is the same, and leaves the program as it was', () => {
    const signed = signMacho(program())
    expect(signMacho(signed)).toEqual(signed)
    const codeAfterCommands = 32 + 3 * 72 + 16
    expect(signed.subarray(codeAfterCommands, CODE_BYTES)).toEqual(
      program().subarray(codeAfterCommands, CODE_BYTES),
    )
  })

  test('of something else is refused', () => {
    expect(() => signMacho(Buffer.from('\x7fELF'.padEnd(64)))).toThrow('no Mach-O')
    expect(() => signMacho(program().subarray(0, CODE_BYTES))).toThrow('ends before its signature')
  })
})
