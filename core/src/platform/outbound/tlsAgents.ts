import { createHash } from 'node:crypto'
import type { Agent } from 'undici/index.js'

/** How connections to one destination are secured. PEM. */
export interface TlsIdentity {
  /** Our certificate, then those between it and its authority; null shows none. */
  readonly clientCertificate: string | null
  /** Private key of {@link clientCertificate}, in the clear. */
  readonly clientKey: string | null
  /** Certificates that the receiver's is to be signed by, in place of the built-in ones; null trusts the built-in ones. */
  readonly certificateAuthority: string | null
}

/** Identities whose connections are kept at once; those that were unused for longest are closed once they are idle. */
const AGENTS_MAX = 256

/** Connection pools by how they are secured: no connection of one identity is used for another. */
export interface TlsAgents {
  agentOf(tls: TlsIdentity): Agent
  close(): Promise<void>
}

/**
 * Builds the pools of identities, each when it is first used.
 *
 * @param newAgent makes a pool
 */
export function createTlsAgents(newAgent: (tls: TlsIdentity) => Agent): TlsAgents {
  /** The one that was used last comes last. */
  const agents = new Map<string, Agent>()
  return {
    agentOf(tls) {
      const key = keyOf(tls)
      const agent = agents.get(key) ?? newAgent(tls)
      agents.delete(key)
      agents.set(key, agent)
      const [oldest] = agents.keys()
      if (agents.size > AGENTS_MAX && oldest !== undefined) {
        // Its sends under way end first.
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
