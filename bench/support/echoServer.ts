/**
 * The yardstick: the least that a Bun server can do with a capture. Reads the body, keeps nothing, answers what an endpoint
 * answers by default. Prints its port.
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
