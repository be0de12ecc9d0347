/**
 * Holds pages open: sessions that sign in, and streams that are read. A page that is told that it is too far behind reads the newest
 * page of the list. On bare sockets, in a process of its own: it must cost less than what it measures. Takes its order as JSON in the
 * first argument, prints a line when all are open, and ends with its standard input.
 */
import { connect } from 'node:net'
import type { PagesOrder } from './openPages.ts'

/** Streams that one session may hold. */
const PAGES_OF_SESSION = 8
/** What the console's list reads at first. */
const ROWS_OF_PAGE = 100

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
    socket.write(head('requests.follow', { endpointId }, cookie, 'text/event-stream'))
    socket.once('data', (start) => {
      if (start.toString('latin1').startsWith('HTTP/1.1 200')) resolve()
      else reject(new Error(`A stream was refused: ${start}`))
    })
    socket.on('data', (chunk) => {
      if (chunk.includes('"kind":"behind"')) void readPage(cookie)
    })
    socket.on('error', reject)
  })
}

async function readPage(cookie: string): Promise<void> {
  const input = encodeURIComponent(JSON.stringify({ endpointId, page: 1, pageSize: ROWS_OF_PAGE }))
  const answer = await fetch(`${baseUrl}/trpc/requests.list?input=${input}`, {
    headers: { ...own, Cookie: cookie },
  })
  await answer.arrayBuffer()
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
