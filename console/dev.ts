/**
 * `bun run console`: the console with hot reload on port 4401; its calls go to the service at CREEL_BASE_URL, by
 * default the one on port 4400. CONSOLE_PORT moves it.
 */
import page from './index.html'

const service = new URL(process.env.CREEL_BASE_URL ?? 'http://127.0.0.1:4400')

/** The service takes calls of browsers from its own pages only, so they are forwarded with its own origin. */
async function forward(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  headers.delete('host')
  headers.delete('accept-encoding')
  if (headers.has('origin')) headers.set('origin', service.origin)
  return await fetch(new URL(pathname + search, service), {
    method: request.method,
    headers,
    body: request.body,
    redirect: 'manual',
    signal: request.signal,
  })
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.CONSOLE_PORT ?? 4401),
  // A stream on which nothing happens is not dead.
  idleTimeout: 0,
  development: { hmr: true, console: true },
  routes: {
    '/trpc/*': forward,
    '/api/*': forward,
    '/console/session': forward,
    '/console': page,
    '/console/*': page,
  },
})
console.log(`console with hot reload: ${server.url}console/`)
