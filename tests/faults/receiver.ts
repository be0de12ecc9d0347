import { createServer, type ServerResponse } from 'node:http'
import type { Ledger } from './ledger.ts'
import type { Random } from './random.ts'

/** Misbehaviour of a receiver in the first attempt of a delivery; the next attempt is answered properly. */
export type Misbehaviour = 'status 500' | 'reset' | 'short body' | 'status 429' | 'hang' | 'trickle'

/** A receiver that sometimes misbehaves, and counts the accepted deliveries. */
export interface FaultyReceiver extends AsyncDisposable {
  readonly url: string
}

/** @param misbehaviours with their probabilities */
export async function startFaultyReceiver(
  ledger: Ledger,
  random: Random,
  {
    misbehaviours,
    probability,
  }: { misbehaviours: readonly [Misbehaviour, ...Misbehaviour[]]; probability: number },
): Promise<FaultyReceiver> {
  const tried = new Set<number>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { number }: { number: number } = JSON.parse(Buffer.concat(chunks).toString())
      const isFirst = !tried.has(number)
      tried.add(number)
      if (isFirst && random.chance(probability)) return misbehave(random.pick(misbehaviours), response)
      ledger.delivered(number)
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.')
  return {
    url: `http://127.0.0.1:${address.port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function misbehave(how: Misbehaviour, response: ServerResponse): void {
  switch (how) {
    case 'status 500':
      response.writeHead(500).end()
      return
    case 'status 429':
      response.writeHead(429, { 'Retry-After': '1' }).end()
      return
    case 'reset':
      response.socket?.destroy()
      return
    case 'short body':
      // Announces more than it sends, then hangs up, so that the answer is incomplete.
      response.writeHead(500, { 'Content-Length': '1000' })
      response.write('short')
      response.socket?.end()
      return
    case 'trickle': {
      response.writeHead(500)
      const timer = setInterval(() => response.write('.'), 500)
      response.on('close', () => clearInterval(timer))
      return
    }
    case 'hang':
      return
  }
}
