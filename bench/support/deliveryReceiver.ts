/**
 * The destination of the delivery benchmark: a separate process that counts. `/live` answers at once, `/dead` never.
 * `GET /report` returns the deliveries on `/live` since the last report, `GET /arrivals` their number so far. Prints
 * its port.
 */
import type { DeliveryReport } from './deliveryReport.ts'

let latenciesMs: number[] = []
let deliveries = new Map<string, number>()

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/report') return Response.json(report())
    if (pathname === '/arrivals') return new Response(String(deliveries.size))
    if (pathname === '/dead') return await new Promise<Response>(() => {})
    const now = performance.timeOrigin + performance.now()
    latenciesMs.push(now - Number(request.headers.get('x-bench-at')))
    const id = request.headers.get('creel-delivery-id') ?? ''
    deliveries.set(id, (deliveries.get(id) ?? 0) + 1)
    await request.arrayBuffer()
    return new Response('ok')
  },
})

function report(): DeliveryReport {
  latenciesMs.sort((a, b) => a - b)
  const at = (share: number) =>
    latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ?? 0
  const result: DeliveryReport = {
    arrived: latenciesMs.length,
    distinct: deliveries.size,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
  latenciesMs = []
  deliveries = new Map()
  return result
}

process.stdout.write(`${server.port}\n`)
