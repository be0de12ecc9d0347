import { createServer } from 'node:net'

/**
 * A port of the host that was free a moment ago. The public addresses hold the port and everything is built with them,
 * so it must be known before anything listens.
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
