import { isDatabaseOutage } from '@creel/core/platform/db'
import { pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from './config/index.ts'
import { withoutSecrets } from './logRedaction.ts'

/** Members that never reach a log line, wherever they stand. */
const SECRET_MEMBERS = [
  'authorization',
  'Authorization',
  'x-api-key',
  'cookie',
  'password',
  'secret',
  'signingSecret',
  'forwardSigningSecret',
  'handshakeToken',
  'key',
  'token',
]

/**
 * The program's log, on stderr: stdout belongs to the ready line and to the output of commands. JSON lines; on a
 * terminal lines for people, coloured unless NO_COLOR is set (https://no-color.org).
 */
export function createLog(level: Config['CREEL_LOG_LEVEL']): pino.Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: SECRET_MEMBERS.flatMap((name) => {
        const member = /^\w+$/.test(name) ? name : `["${name}"]`
        const dotted = /^\w+$/.test(name) ? `.${name}` : member
        return [member, `*${dotted}`, `*.*${dotted}`]
      }),
      censor: '[secret]',
    },
    serializers: { err: errorMembers },
    hooks: { streamWrite: withoutSecrets, logMethod: outageOnceASecond() },
  }
  if (process.stderr.isTTY !== true) return pino(options, pino.destination({ dest: 2, sync: true }))
  const colorize = (process.env.NO_COLOR ?? '') === ''
  // In this thread: pino's transports load files at run time, which a single executable does not have.
  return pino(options, pretty({ destination: 2, sync: true, colorize, translateTime: 'SYS:HH:MM:ss.l' }))
}

/** What is said of an error: of the database's, no more than its words and its code, since the driver's own members hold statements. */
function errorMembers(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { message: String(error) }
  const code = 'code' in error ? error.code : undefined
  const said = {
    type: error.name,
    message: error.message || String(code),
    ...(code !== undefined && { code }),
  }
  return isDatabaseOutage(error) ? said : { ...said, stack: error.stack }
}

const OUTAGE_LINE_MS = 1000

/** While the database is out of reach, everything that misses it would say so: one line a second is enough. */
function outageOnceASecond() {
  let lastAt = Number.NEGATIVE_INFINITY
  return function hook(this: pino.Logger, args: Parameters<pino.LogFn>, method: pino.LogFn): void {
    const members: unknown = args[0]
    if (
      typeof members === 'object' &&
      members !== null &&
      'err' in members &&
      isDatabaseOutage(members.err)
    ) {
      if (performance.now() - lastAt < OUTAGE_LINE_MS) return
      lastAt = performance.now()
    }
    method.apply(this, args)
  }
}
