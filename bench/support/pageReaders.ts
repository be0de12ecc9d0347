/**
 * Holds pages open: signed-in sessions whose streams are read. It is a separate process on bare sockets, since it must
 * cost less than what it measures. The first argument is its order, as JSON. It prints a line when all pages are open,
 * and ends with its standard input.
 */
import { connect } from 'node:net'
import type { PagesOrder } from './openPages.ts'

/** Streams that one session may hold. */
const PAGES_OF_SESSION = 8

const { baseUrl, key, endpointId, pages }: PagesOrder = JSON.parse(process.argv[2] ?? '')
const { hostname, port, host } = new URL(baseUrl)
const own = { 'Sec-Fetch-Site': 'same-origin', Origin: baseUrl }

for (let opened = 0; opened < pages; opened += PAGES_OF_SESSION) {
  const cookie = await signIn()
  await Promise.all(
    Array.from({ length: Math.min(PAGES_OF_SESSION, pages - opened) }, () => openStream(cookie)),
  )
}
console.log('open')
for await (const _line of console);
process.exit(0)

async function signIn(): Promise<string> {
  const session = await fetch(`${baseUrl}/console/session`, {
    method: 'POST',
    headers: { ...own, 'Content-Type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  await session.arrayBuffer()
  return session.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
}

/** Resolves with the first byte of the answer. */
function openStream(cookie: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.write(head('requests.follow', { endpointId, newest: true }, cookie, 'text/event-stream'))
    socket.once('data', (start) => {
      if (start.toString('latin1').startsWith('HTTP/1.1 200')) resolve()
      else reject(new Error(`A stream was refused: ${start}`))
    })
    socket.resume()
    socket.on('error', reject)
  })
}

function head(procedure: string, input: object, cookie: string, accept: string): string {
  return [
    `GET /trpc/${procedure}?input=${encodeURIComponent(JSON.stringify(input))} HTTP/1.1`,
    `Host: ${host}`,
    ...Object.entries(own).map(([name, value]) => `${name}: ${value}`),
    `Cookie: ${cookie}`,
    `Accept: ${accept}`,
    '',
    '',
  ].join('\r\n')
}
