import { z } from 'zod'
import { type Receiver, startReceiver } from './receiver.ts'

const Body = z.looseObject({ challenge: z.string().optional() })

/**
 * Starts a callback of event subscriptions, which repeats challenges.
 *
 * @param statusOf status of the answer to an event; 200 by default
 */
export async function startEcho(statusOf: () => number = () => 200): Promise<Receiver> {
  return await startReceiver((request, response) => {
    const { challenge } = Body.parse(JSON.parse(request.body.toString()))
    response.writeHead(challenge === undefined ? statusOf() : 200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ challenge }))
  })
}
