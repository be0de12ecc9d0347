import { createHash } from 'node:crypto'
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Environment } from '../tools.ts'

/** The file grows by this, and a record fills it, so that a shorter one overwrites the previous one completely. */
const BLOCK_BYTES = 512

const Stored = z.object({ done: z.int(), beyond: z.array(z.int()) })

/** The requests that the local server has answered. */
export interface Progress {
  /** Every request up to this one. */
  readonly done: number
  /** Answered requests after `done`. With several requests in flight, a later one may be answered first. */
  readonly beyond: readonly number[]
}

/** The progress of one endpoint towards one target, on disk. */
export interface Checkpoint {
  readonly file: string
  /** Undefined if nothing was sent there yet. */
  read(): Progress | undefined
  /**
   * Writes the progress in one system call, so that killing the process leaves either the old record or the new one.
   * Does not wait for the disk: after a power failure some requests may be sent again.
   */
  write(progress: Progress): void
  close(): void
}

/** Opens the checkpoint of an endpoint and a target, in the user's state folder. */
export function openCheckpoint(
  environment: Environment,
  of: { readonly serviceUrl: string; readonly endpointId: string; readonly target: string },
): Checkpoint {
  const state = environment.XDG_STATE_HOME || join(environment.HOME || homedir(), '.local', 'state')
  const name = createHash('sha256')
    .update(JSON.stringify([of.serviceUrl, of.endpointId, of.target]))
    .digest('hex')
  const file = join(state, 'creel', 'listen', `${name.slice(0, 24)}.json`)
  let handle: number | undefined
  let size = 0
  return {
    file,
    read() {
      try {
        const stored = Stored.safeParse(JSON.parse(readFileSync(file, 'utf8').split('\n', 1)[0] ?? ''))
        return stored.success ? stored.data : undefined
      } catch {
        return undefined
      }
    },
    write({ done, beyond }) {
      if (handle === undefined) {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
        handle = openSync(file, 'a', 0o600)
        closeSync(handle)
        handle = openSync(file, 'r+')
        ;({ size } = fstatSync(handle))
      }
      const text = `${JSON.stringify({ done, beyond, endpointId: of.endpointId, target: of.target })}\n`
      const length = Buffer.byteLength(text)
      size = Math.max(size, Math.ceil(length / BLOCK_BYTES) * BLOCK_BYTES)
      writeSync(handle, text + ' '.repeat(size - length), 0)
    },
    close() {
      if (handle !== undefined) closeSync(handle)
      handle = undefined
    },
  }
}
