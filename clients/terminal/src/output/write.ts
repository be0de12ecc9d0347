import { once } from 'node:events'
import { jsonText, SafeText, type Text } from './safeText.ts'

/** Writes lines to stdout or stderr. Strings are escaped; there may be line breaks between lines only. */
export function writeLines(stream: NodeJS.WriteStream, lines: readonly Text[]): void {
  stream.write(`${lines.map((line) => SafeText.of(line).toString()).join('\n')}\n`)
}

/**
 * Prints one JSON value on one line; a command prints nothing else to stdout then. Hidden characters of strings are
 * `\u` escapes.
 */
export function printJson(value: unknown): void {
  process.stdout.write(`${jsonText(value)}\n`)
}

/** The reader of stdout, such as `| head`, has closed the pipe: the command ends, without an error. */
export class ReaderGone extends Error {}

/**
 * Opens stdout for untrusted bytes. A pipe or a file receives them byte for byte; a terminal shows their text as UTF-8
 * with hidden characters escaped.
 */
export function byteOutput() {
  const { stdout } = process
  const isTerminal = stdout.isTTY === true
  const decoder = new TextDecoder()
  /** Held back because a CR and its line feed may come in different pieces. */
  let heldBack = ''
  const shown = (text: string) => SafeText.lines(text).join('\n')
  return {
    /**
     * Resolves when stdout accepts more.
     *
     * @throws ReaderGone
     */
    async write(bytes: Uint8Array): Promise<void> {
      if (!isTerminal) {
        // Back-pressure: waits for a full pipe, so that nothing piles up here.
        if (!stdout.write(bytes)) await drained(stdout)
        return
      }
      const text = heldBack + decoder.decode(bytes, { stream: true })
      heldBack = text.endsWith('\r') ? '\r' : ''
      if (!stdout.write(shown(text.slice(0, text.length - heldBack.length)))) await drained(stdout)
    },
    /** Flushes the rest of an incomplete character. */
    end(): void {
      if (isTerminal) stdout.write(shown(heldBack + decoder.decode()))
    },
  }
}

/** Resolves when a stream accepts more. */
async function drained(stream: NodeJS.WriteStream): Promise<void> {
  await once(stream, 'drain').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EPIPE' ? new ReaderGone() : error
  })
}

/** Puts a text into the clipboard of the machine that the terminal runs on, also over ssh (OSC 52). */
export function copyToClipboard(text: string): void {
  process.stdout.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`)
}
