/**
 * The yardstick: the minimum that a Bun server can do with a capture. It reads the body, keeps nothing, and sends the
 * default answer of an endpoint. Prints its port.
 */
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.arrayBuffer()
    return new Response('{"ok":true}', { headers: { 'Content-Type': 'application/json' } })
  },
})
process.stdout.write(`${server.port}\n`)
