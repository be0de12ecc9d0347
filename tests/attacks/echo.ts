/** A bare HTTP server in a process of its own. Its answers show how busy the machine is while the service is attacked. */
const echo = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('echo') })
process.stdout.write(`${echo.url.href}\n`)

export {}
