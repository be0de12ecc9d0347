import { Download, DownloadStream } from '@creel/core'
import { countPiece } from '@creel/core/platform/memory'
import { z } from 'zod'
import { countAnswer } from './http/pieceMemory.ts'

/** Range of a partial download. */
const Part = z.object({ from: z.int(), total: z.int() })

/**
 * The response of a route that does not return JSON. In a stream, each part is made after the client has read the one
 * before.
 */
export function downloadResponse(result: unknown): Response {
  const streamed = DownloadStream.safeParse(result)
  if (streamed.success) {
    const { parts, ...named } = streamed.data
    return new Response(bytesOf(parts), { headers: headersOf(named) })
  }
  const { content, encoding, ...named } = Download.parse(result)
  const bytes = Buffer.from(content, encoding)
  const part = Part.safeParse(result)
  if (!part.success) return countAnswer(new Response(bytes, { headers: headersOf(named) }), bytes.length)
  const { from, total } = part.data
  const isWhole = bytes.length === total
  const answer = new Response(bytes, {
    status: isWhole ? 200 : 206,
    headers: {
      ...headersOf(named),
      'Accept-Ranges': 'bytes',
      ...(isWhole ? {} : { 'Content-Range': `bytes ${from}-${from + bytes.length - 1}/${total}` }),
    },
  })
  return countAnswer(answer, bytes.length)
}

/** Headers that keep a browser from rendering the content. */
function headersOf({ contentType, fileName }: { contentType: string; fileName: string }) {
  return {
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${fileName}"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  }
}

/** Memory that a part leaves behind, as a multiple of its size: the database's answer, its texts, and their JSON. */
const COPIES = 3

/** Makes each part only after the one before was read. */
function bytesOf(parts: AsyncIterable<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = parts[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done === true) controller.close()
        else {
          countPiece(value.length * COPIES)
          controller.enqueue(value)
        }
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
