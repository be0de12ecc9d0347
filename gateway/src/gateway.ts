import type { Services } from '@creel/core'
import { createApp } from './app.ts'
import { startHeartbeat } from './heartbeat.ts'
import { type CaptureHandler, type Listener, listen } from './listener.ts'

export interface GatewayOptions {
  readonly host: string
  /** 0 = any free one. */
  readonly port: number
  /** Shown in `/openapi/v1.json`. */
  readonly version: string
  /** Absent: nothing is captured here. */
  readonly capture?: CaptureHandler
}

/** Opens the port, serves the API on it, and says so to the watchdogs. */
export async function startGateway(services: Services, options: GatewayOptions): Promise<Listener> {
  const { host, port, version, capture } = options
  const listener = await listen({
    host,
    port,
    ...(capture === undefined ? {} : { capture }),
    fetch: createApp(services, version),
    onError: (error) => services.log.error({ err: error }, 'unexpected error'),
  })
  const stopHeartbeat = await startHeartbeat(services)
  return {
    port: listener.port,
    close(graceMs) {
      stopHeartbeat()
      return listener.close(graceMs)
    },
  }
}
