import { Download, DownloadStream } from '@creel/core'

/** The answer of a route that gives no JSON. Of a stream each part is made when the client has taken the one before. */
export function downloadResponse(result: unknown): Response {
  const headers = (contentType: string, fileName: string) => ({
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${fileName}"`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  })
  const streamed = DownloadStream.safeParse(result)
  if (streamed.success) {
    const { contentType, fileName, parts } = streamed.data
    return new Response(bytesOf(parts), { headers: headers(contentType, fileName) })
  }
  const { contentType, fileName, content, encoding } = Download.parse(result)
  return new Response(Buffer.from(content, encoding), { headers: headers(contentType, fileName) })
}

/** Makes a part only when the last one was read. */
function bytesOf(parts: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const iterator = parts[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
