import { afterEach, describe, expect, test } from 'bun:test'
import net from 'node:net'
import { createMailer, SEND_MS } from './index.ts'

const MAIL = { to: 'ops@acme.test', subject: 'Subject', text: 'Text', html: '<p>Text</p>', messageKey: 'key' }
/** A limit within which a test ends, and a pace at which no server comes to an end within it. */
const SEND = { sendMs: 400, everyMs: 20 } as const

let server: net.Server | undefined
const sockets = new Set<net.Socket>()

afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  server?.close()
})

/** A mail server that treats each connection as `talk` does; its URL. */
async function startServer(talk: (socket: net.Socket) => void): Promise<string> {
  server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    talk(socket)
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return `smtp://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
}

/** Writes again and again, until the connection ends. */
function drip(socket: net.Socket, pieces: () => string): void {
  const timer = setInterval(() => socket.write(pieces()), SEND.everyMs)
  socket.on('close', () => clearInterval(timer))
}

const REPLIES = { EHLO: '250 hello', MAIL: '250 ok', RCPT: '250 ok', DATA: '354 go on', '.': '250 taken' }

/** Speaks SMTP until the command `stuck`, to which it answers by `end`. */
function dialogue(socket: net.Socket, stuck: string, end: () => void): void {
  socket.write('220 ready\r\n')
  let left = ''
  socket.on('data', (chunk) => {
    const lines = (left + chunk.toString('latin1')).split('\r\n')
    left = lines.pop() ?? ''
    for (const line of lines) {
      const command = Object.entries(REPLIES).find(([word]) => line === word || line.startsWith(`${word} `))
      if (command?.[0] === stuck) end()
      else if (command !== undefined) socket.write(`${command[1]}\r\n`)
    }
  })
}

const TOO_LATE = {
  outcome: 'failed',
  detail: 'The mail server did not take the mail within 0.4 s.',
  statusCode: null,
}

describe('a mail ends within its time', () => {
  test('with a server that greets byte by byte', async () => {
    const url = await startServer((socket) => drip(socket, () => '2'))
    const mailer = createMailer({ smtpUrl: url, from: undefined, ...SEND })
    expect(await mailer.send(MAIL)).toMatchObject(TOO_LATE)
  })

  for (const stuck of Object.keys(REPLIES))
    test(`with a server that answers ${stuck} by lines without end`, async () => {
      const url = await startServer((socket) =>
        dialogue(socket, stuck, () => drip(socket, () => '250-more\r\n')),
      )
      const mailer = createMailer({ smtpUrl: url, from: undefined, ...SEND })
      expect(await mailer.send(MAIL)).toMatchObject(TOO_LATE)
    })

  test('at once with a server that sends empty lines, which would fill the memory', async () => {
    const url = await startServer((socket) => socket.write('\r\n'.repeat(2000)))
    expect(await createMailer({ smtpUrl: url, from: undefined, ...SEND }).send(MAIL)).toMatchObject({
      outcome: 'failed',
      detail: 'The mail server could not be reached (EPROTOCOL).',
    })
  })

  test('which is shorter than the lease of a send', () => {
    expect(SEND_MS).toBeLessThan(30_000)
  })
})

describe('a mail is tried again', () => {
  const send = async (url: string) => await createMailer({ smtpUrl: url, from: undefined }).send(MAIL)

  test('after a 5xx to the greeting or to STARTTLS, which is no answer to the mail', async () => {
    const busy = await startServer((socket) => socket.end('554 no service\r\n'))
    expect(await send(busy)).toMatchObject({ outcome: 'failed', statusCode: 554, detail: '554 no service' })
    server?.close()
    const withoutTls = await startServer((socket) => {
      socket.write('220 ready\r\n')
      socket.once('data', () => {
        socket.write('250-hello\r\n250 STARTTLS\r\n')
        socket.on('data', () => socket.write('554 no TLS\r\n'))
      })
    })
    expect(await send(withoutTls)).toMatchObject({ outcome: 'failed', statusCode: 554, detail: '554 no TLS' })
  })

  test('but not after a 5xx to its recipient', async () => {
    const url = await startServer((socket) => dialogue(socket, 'RCPT', () => socket.write('550 no such\r\n')))
    expect(await send(url)).toMatchObject({ outcome: 'rejected', statusCode: 550 })
  })
})

test('a few empty lines before a reply do not matter', async () => {
  const url = await startServer((socket) => {
    socket.write('\r\n\r\n')
    dialogue(socket, 'none', () => {})
  })
  expect(await createMailer({ smtpUrl: url, from: undefined }).send(MAIL)).toMatchObject({ outcome: 'sent' })
})

test('a mail whose connection fails names the cause', async () => {
  const url = await startServer(() => {})
  server?.close()
  expect(await createMailer({ smtpUrl: url, from: undefined }).send(MAIL)).toMatchObject({
    outcome: 'failed',
    detail: 'The mail server could not be reached (ECONNREFUSED).',
  })
})

test('a mail that is cut off is no result, and its connection ends', async () => {
  const began = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const url = await startServer((socket) => {
    socket.on('end', () => closed.resolve())
    dialogue(socket, 'MAIL', began.resolve)
  })
  const stopping = new AbortController()
  const sending = createMailer({ smtpUrl: url, from: undefined }).send(MAIL, stopping.signal)
  await began.promise
  stopping.abort()
  expect(await sending).toBeNull()
  await closed.promise
})
