/**
 * `bun run console`: the console with hot reload on port 4401 (CONSOLE_PORT changes it). Its calls go to the service at
 * CREEL_BASE_URL, by default the one on port 4400.
 */
import page from '../../console/index.html'

const service = new URL(process.env.CREEL_BASE_URL ?? 'http://127.0.0.1:4400')

/**
 * Forwards a call with the service's own origin, because the service accepts calls of browsers from its own pages only.
 */
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
  // A quiet stream must not be closed.
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
