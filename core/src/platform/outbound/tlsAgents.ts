import { createHash } from 'node:crypto'
import type { Agent } from 'undici/index.js'

/** TLS settings of connections to one destination, in PEM. */
export interface TlsIdentity {
  /** Our certificate, then its intermediate ones; null sends none. */
  readonly clientCertificate: string | null
  /** Private key of {@link clientCertificate}, in the clear. */
  readonly clientKey: string | null
  /** Authorities of the receiver's certificate, which replace the built-in ones; null trusts the built-in ones. */
  readonly certificateAuthority: string | null
}

/** The most identities with open connections. Those of the least recently used are closed once they are idle. */
const AGENTS_MAX = 256

/** Connection pools by identity. No connection of one identity is used for another. */
export interface TlsAgents {
  agentOf(tls: TlsIdentity): Agent
  close(): Promise<void>
}

/**
 * Makes the pools of identities, each when it is first used.
 *
 * @param newAgent makes a pool
 */
export function createTlsAgents(newAgent: (tls: TlsIdentity) => Agent): TlsAgents {
  /** Ordered by last use. */
  const agents = new Map<string, Agent>()
  return {
    agentOf(tls) {
      const key = keyOf(tls)
      const agent = agents.get(key) ?? newAgent(tls)
      agents.delete(key)
      agents.set(key, agent)
      const [oldest] = agents.keys()
      if (agents.size > AGENTS_MAX && oldest !== undefined) {
        // Closes after its sends in flight have ended.
        agents.get(oldest)?.close(() => {})
        agents.delete(oldest)
      }
      return agent
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }
}

function keyOf({ clientCertificate, clientKey, certificateAuthority }: TlsIdentity): string {
  const parts = JSON.stringify([clientCertificate, clientKey, certificateAuthority])
  return createHash('sha256').update(parts).digest('base64')
}
