import { createServer, type Socket } from 'node:net'
import { atEnd } from './atEnd.ts'
import type { ReceiverAnswer } from './receiver.ts'

/** Answer of a receiver that takes a request and never answers it. */
export const neverAnswers: ReceiverAnswer = () => {}

/** Answer of a receiver that lets a sender wait, then answers with this status. */
export function answersAfter(milliseconds: number, status = 200): ReceiverAnswer {
  return (_, response) => {
    const timer = setTimeout(() => response.writeHead(status).end(), milliseconds)
    response.on('close', () => clearTimeout(timer))
  }
}

/** Answer of a receiver that sends its status at once, then a byte of body at a time, without end. */
export function trickles(everyMilliseconds = 10): ReceiverAnswer {
  return (_, response) => {
    response.writeHead(200).flushHeaders()
    const timer = setInterval(() => response.write('.'), everyMilliseconds)
    response.on('close', () => clearInterval(timer))
  }
}

/** Starts a receiver that accepts connections and reads nothing from them. It ends with the test file. */
export async function startDeafReceiver(): Promise<{ readonly url: string }> {
  const sockets = new Set<Socket>()
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.pause()
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.')
  atEnd('databases', async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${address.port}/hooks` }
}
