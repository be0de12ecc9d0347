import { expect, test } from 'bun:test'
import { Agent } from 'undici/index.js'
import { createTlsAgents, type TlsIdentity } from './dial.ts'

const identity = (certificateAuthority: string): TlsIdentity => ({
  clientCertificate: null,
  clientKey: null,
  certificateAuthority,
})

test('256 identities have connections at once; the one that was unused for longest makes room', async () => {
  const made: Agent[] = []
  const agents = createTlsAgents(() => {
    const agent = new Agent()
    made.push(agent)
    return agent
  })
  for (let n = 0; n < 256; n++) agents.agentOf(identity(String(n)))
  expect(agents.agentOf(identity('0')) === made[0]).toBe(true)
  agents.agentOf(identity('256'))
  expect(made.flatMap(({ closed }, index) => (closed ? [index] : []))).toEqual([1])
  await agents.close()
  expect(made.every(({ destroyed }) => destroyed)).toBe(true)
})
