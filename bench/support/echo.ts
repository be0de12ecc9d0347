import { join } from 'node:path'

/** The yardstick, `echoServer.ts`, in a process of its own. */
export interface Echo {
  readonly url: string
  readonly pid: number
  stop(): void
}

/** Starts the bare echo. */
export async function startEcho(): Promise<Echo> {
  const server = Bun.spawn([process.execPath, join(import.meta.dir, 'echoServer.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const chunk of server.stdout) {
    const url = `http://127.0.0.1:${new TextDecoder().decode(chunk).trim()}/hook`
    return { url, pid: server.pid, stop: () => server.kill() }
  }
  throw new Error('The echo server said nothing.')
}
