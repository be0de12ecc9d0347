import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/** A record is padded to whole blocks of so many bytes, so that a shorter one covers the one before. */
const BLOCK_BYTES = 512

const Stored = z.object({ done: z.int(), beyond: z.array(z.int()) })

/** Up to where requests have been answered by the local server. */
export interface Progress {
  /** Every request up to this one. */
  readonly done: number
  /** And these beyond it: with several at once, a later one may be answered first. */
  readonly beyond: readonly number[]
}

/** The progress of one endpoint towards one target, on disk. */
export interface Checkpoint {
  readonly file: string
  /** Undefined when nothing was sent there yet. */
  read(): Progress | undefined
  /**
   * Writes the progress in one call of the system: whoever kills the process sees the record before or after it. It does not
   * wait for the disk; after a loss of power some requests may come once more.
   */
  write(progress: Progress): void
  close(): void
}

/** Opens the checkpoint of an endpoint and a target; its folder is the user's state folder. */
export function openCheckpoint(
  environment: Readonly<Record<string, string | undefined>>,
  of: { readonly serviceUrl: string; readonly endpointId: string; readonly target: string },
): Checkpoint {
  const state = environment.XDG_STATE_HOME ?? join(environment.HOME ?? homedir(), '.local', 'state')
  const name = createHash('sha256')
    .update(JSON.stringify([of.serviceUrl, of.endpointId, of.target]))
    .digest('hex')
  const file = join(state, 'creel', 'listen', `${name.slice(0, 24)}.json`)
  let handle: number | undefined
  return {
    file,
    read() {
      try {
        const stored = Stored.safeParse(JSON.parse(readFileSync(file, 'utf8')))
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
      }
      const text = `${JSON.stringify({ done, beyond, endpointId: of.endpointId, target: of.target })}\n`
      const bytes = Math.ceil(Buffer.byteLength(text) / BLOCK_BYTES) * BLOCK_BYTES
      writeSync(handle, text + ' '.repeat(bytes - Buffer.byteLength(text)), 0)
    },
    close() {
      if (handle !== undefined) closeSync(handle)
      handle = undefined
    },
  }
}
