import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { countPiece } from '@creel/core/platform/memory'
import { slices } from '@creel/core/platform/turns'

/**
 * Memory that an answer with a long body leaves behind, as a multiple of its size: its members, their JSON, and its
 * bytes. Reads for it are counted elsewhere.
 */
const COPIES_OF_ANSWER = 3
/** Shorter answers are not counted. */
const LONG_ANSWER_LENGTH_MIN = 1024 * 1024
/** Characters of a long text that are worked on at once. They are whole groups of base64. */
const SLICE_CHARACTERS = 64 * 1024

/** Lengths of the texts of long answers. A `Response` does not say the length of its body, and has no place for it. */
const lengths = new WeakMap<Response, number>()

/** How the bytes of an answer follow from its text: the characters in UTF-8, or the octets that the base64 stands for. */
type TextEncoding = 'utf8' | 'base64'

/**
 * An answer with the bytes of a text. A long text is encoded in pieces, as the client takes them. All of them at once
 * would hold the event loop, and take memory. The memory of a long text is counted.
 *
 * @param texts the text, cut within no character and no group of base64
 * @returns a long one in a later turn of the event loop, because making its text took a turn of its own
 */
export function answerOfText(
  texts: readonly string[],
  encoding: TextEncoding,
  init: ResponseInit,
): Response | Promise<Response> {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length < LONG_ANSWER_LENGTH_MIN) {
    const text = texts.join('')
    return new Response(encoding === 'utf8' ? text : Buffer.from(text, encoding), init)
  }
  const answer = new Response(streamOf(piecesOf(texts, encoding)), init)
  lengths.set(answer, length)
  return setImmediate().then(() => {
    countPiece(length * COPIES_OF_ANSWER)
    return answer
  })
}

/** Length of the text of a long answer that {@link answerOfText} made; 0 for every other. */
export function heldBytesOf(answer: Response): number {
  return lengths.get(answer) ?? 0
}

/** Kept bytes are sent in pieces of this length. */
const KEPT_PIECE_BYTES = 64 * 1024

/**
 * An answer with bytes that are kept and never change, such as a file: they are sent from where they are. A `Response` of
 * the bytes would copy them all for each answer, and its memory costs several times what sending does.
 */
export function answerOfKept(bytes: Uint8Array<ArrayBuffer>, init: ResponseInit): Response {
  return new Response(streamOf(keptPieces(bytes)), init)
}

function* keptPieces(bytes: Uint8Array<ArrayBuffer>): Generator<Uint8Array<ArrayBuffer>, void> {
  for (let at = 0; at < bytes.length; at += KEPT_PIECE_BYTES) yield bytes.subarray(at, at + KEPT_PIECE_BYTES)
}

/** A stream whose pieces are made only after those before were read. */
export function streamOf(
  pieces: Iterator<Uint8Array<ArrayBuffer>> | AsyncIterator<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await pieces.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function* piecesOf(
  texts: readonly string[],
  encoding: TextEncoding,
): Generator<Uint8Array<ArrayBuffer>, void> {
  for (const text of texts) for (const slice of slicesOf(text)) yield Buffer.from(slice, encoding)
}

/** Cuts a text into slices of 65,536 characters, and one more where a surrogate pair would be cut. */
export function* slicesOf(text: string): Generator<string, void> {
  for (let at = 0; at < text.length; ) {
    let end = at + SLICE_CHARACTERS
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1
    yield text.slice(at, end)
    at = end
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00

/**
 * The JSON of a value with long texts, in pieces. Each of these texts is written slice by slice, and other work runs in
 * between. Joining the pieces would take as long as writing them.
 */
export async function jsonInSlices(value: unknown): Promise<string[]> {
  const long: string[] = []
  const mark = randomUUID()
  const frame = JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'string' || member.length <= SLICE_CHARACTERS) return member
    long.push(member)
    return mark
  })
  const [start = '', ...ends] = frame.split(`"${mark}"`)
  const json = [start]
  for (const [at, end] of ends.entries()) {
    json.push('"')
    for (const slice of slicesOf(long[at] ?? '')) {
      if (slices.areDue) await slices.next()
      json.push(JSON.stringify(slice).slice(1, -1))
    }
    json.push(`"${end}`)
  }
  return json
}
