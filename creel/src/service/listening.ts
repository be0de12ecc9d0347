import { StartupError } from '../startupError.ts'

export class PortTaken extends StartupError {}

/** Address to listen on, and the variable that configures it. */
interface Place {
  readonly host: string
  readonly port: number
  readonly variable: 'CREEL_PORT' | 'CREEL_METRICS_PORT'
}

/**
 * Waits for a port to open, and explains a failure.
 *
 * @throws PortTaken; StartupError for an address that is not this machine's and for a port without permission
 */
export async function whenListening<Listener>(opening: Promise<Listener>, place: Place): Promise<Listener> {
  const { host, port, variable } = place
  try {
    return await opening
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'EADDRINUSE') {
      throw new PortTaken(
        `Port ${port} of ${host} is in use by another program. Set ${variable} to a free port (0 picks one).`,
        { cause },
      )
    }
    // Bun gives no code when the host name is unknown.
    const isUnknownName = cause instanceof Error && cause.message.startsWith('Failed to listen')
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || isUnknownName) {
      throw new StartupError(
        `Cannot listen on port ${port} of ${host} (${code ?? 'unknown host'}). Change CREEL_HOST or ${variable}.`,
        {
          cause,
        },
      )
    }
    throw cause
  }
}
