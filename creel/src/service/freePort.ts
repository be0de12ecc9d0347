import { createServer } from 'node:net'

/**
 * A port of the host that was free a moment ago. Many parts need the public addresses, which contain the port, so it
 * must be known before anything listens.
 */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, host, () => {
      const address = server.address()
      const port = address !== null && typeof address === 'object' ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
