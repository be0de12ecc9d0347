import { createServer } from 'node:net'

/**
 * A port of the host that was free a moment ago: the given one, or any. Many parts need the public addresses, which contain the port, so it
 * must be known before anything listens.
 *
 * @param wanted 0 = any
 * @throws the system's error when the port is not free
 */
export function freePort(host: string, wanted = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(wanted, host, () => {
      const address = server.address()
      const port = address !== null && typeof address === 'object' ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
