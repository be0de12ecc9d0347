import { PROXY, type Target } from './target.ts'

/** A client of another workspace that is not part of the attack. */
export interface Bystander {
  /** Requests that were answered. */
  readonly answered: number
  /** Stops, and answers what was wrong. */
  stop(): Promise<readonly string[]>
}

const ADDRESS = '203.0.113.9'
const PAUSE_MS = 20

/** Captures and reads from an address of its own, behind {@link PROXY}, until it is stopped. */
export function startBystander(target: Target): Bystander {
  const complaints: string[] = []
  const headers = { 'X-Forwarded-For': ADDRESS }
  let answered = 0
  let isStopped = false
  const ask = async (path: string, init: RequestInit) => {
    const call = () => fetch(`http://${PROXY}:${target.port}${path}`, { ...init, keepalive: false })
    try {
      // If there are too many connections, a new one may be closed before its request arrives.
      const answer = await call().catch(call)
      await answer.bytes()
      if (answer.status === 200) answered += 1
      else complaints.push(`the bystander's ${path} was answered ${answer.status}`)
    } catch (error) {
      complaints.push(`the bystander's ${path} was not answered: ${String(error)}`)
    }
  }
  const living = (async () => {
    while (!isStopped) {
      await ask(target.bystanderPath, { method: 'POST', headers, body: '{"innocent":true}' })
      await ask('/api/v1/me', { headers: { ...headers, Authorization: `Bearer ${target.bystanderKey}` } })
      await Bun.sleep(PAUSE_MS)
    }
  })()
  return {
    get answered() {
      return answered
    },
    async stop() {
      isStopped = true
      await living
      return complaints
    },
  }
}
