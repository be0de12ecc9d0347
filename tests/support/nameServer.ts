import { createSocket } from 'node:dgram'
import { getServers, setServers } from 'node:dns'

/** Length of the header of a message. Its question follows. */
const HEADER_BYTES = 12
/** Type and class of a question. */
const TYPE_BYTES = 4
const TYPE_A = 1
const NOT_FOUND = 3
/** A pointer to the name of the question, type A, class IN, a second to live, four bytes: 127.0.0.1. */
const LOOPBACK_RECORD = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1])

/** How a name is answered: with the loopback address, as absent, or never. */
export type NameAnswer = 'loopback' | 'absent' | 'never'

/**
 * Makes a name server of this process the only one that the process asks.
 *
 * @param answerOf the answer for a name
 */
export async function startNameServer(answerOf: (name: string) => NameAnswer): Promise<AsyncDisposable> {
  const socket = createSocket('udp4')
  socket.on('message', (asked, { port, address }) => {
    const { name, end } = nameIn(asked)
    const answer = answerOf(name)
    if (answer === 'never') return
    const isFound = answer === 'loopback' && asked.readUInt16BE(end) === TYPE_A
    const header = Buffer.from(asked.subarray(0, HEADER_BYTES))
    header.writeUInt16BE(0x8180 | (answer === 'absent' ? NOT_FOUND : 0), 2)
    header.writeUInt16BE(isFound ? 1 : 0, 6)
    header.writeUInt32BE(0, 8)
    const question = asked.subarray(HEADER_BYTES, end + TYPE_BYTES)
    socket.send(Buffer.concat([header, question, isFound ? LOOPBACK_RECORD : Buffer.alloc(0)]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const before = getServers()
  setServers([`127.0.0.1:${socket.address().port}`])
  return {
    async [Symbol.asyncDispose]() {
      setServers(before)
      await new Promise<void>((resolve) => socket.close(() => resolve()))
    },
  }
}

function nameIn(message: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}
