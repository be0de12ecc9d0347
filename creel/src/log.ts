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
    hooks: { streamWrite: withoutSecrets },
  }
  if (process.stderr.isTTY !== true) return pino(options, pino.destination({ dest: 2, sync: true }))
  const colorize = (process.env.NO_COLOR ?? '') === ''
  // In this thread: pino's transports load files at run time, which a single executable does not have.
  return pino(options, pretty({ destination: 2, sync: true, colorize, translateTime: 'SYS:HH:MM:ss.l' }))
}
