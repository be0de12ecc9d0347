import { isDatabaseOutage } from '@creel/core/platform/db'
import { pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from './config/index.ts'

/** Longer texts are not credentials. */
const CREDENTIAL_CHARACTERS_MAX = 1024

/**
 * Removes secrets from a log line, wherever they came from. An API key or a token of an agent keeps its prefix, which is safe to show; text
 * after `Bearer` and passwords in URLs are removed. Takes linear time, because parts of the line come from unknown
 * clients.
 */
export function withoutSecrets(line: string): string {
  const keyless = line
    .replaceAll(/(creel_(?:live|oauth|refresh|code)_\w{6})\w+/g, '$1[secret]')
    .replaceAll(/\b(Bearer|Basic)\s+[^\s"'\\,]+/gi, '$1 [secret]')
  return withoutPasswords(keyless)
}

/** `user:password@` after `://`. Each match starts where the one before it ended, which keeps the time linear. */
const USER_AND_PASSWORD = new RegExp(
  `^([^\\s:/@"]{0,${CREDENTIAL_CHARACTERS_MAX}}):[^\\s/@"]{1,${CREDENTIAL_CHARACTERS_MAX}}@`,
)

function withoutPasswords(line: string): string {
  const [start = '', ...rest] = line.split('://')
  let clean = start
  for (const part of rest) clean += `://${part.replace(USER_AND_PASSWORD, '$1:[secret]@')}`
  return clean
}

/** Members that are redacted in log lines, at any depth. */
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
  'clientSecret',
  'clientKey',
  'key',
  'token',
]

/** Octets of the lines that wait for the reader of stderr. Further lines are dropped. */
const WAITING_BYTES_MAX = 1 << 20
/** Time without a written line after which the reader of stderr counts as stopped. An exit does not wait for it. */
const STALLED_MS = 1000

/**
 * The program's log, on stderr, because stdout is for the ready line and the output of commands. Writes JSON lines; on
 * a terminal readable lines, coloured unless NO_COLOR is set (https://no-color.org). JSON lines are written without
 * waiting for their reader: one that stops reading must not stop the service.
 */
export function createLog(level: Config['CREEL_LOG_LEVEL']): pino.Logger {
  const { lines, noteLine } = process.stderr.isTTY === true ? {} : withoutWaiting()
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
    hooks: {
      streamWrite(line) {
        noteLine?.()
        return withoutSecrets(line)
      },
      logMethod: outageOnceASecond(),
    },
  }
  if (lines !== undefined) return pino(options, lines)
  const colorize = (process.env.NO_COLOR ?? '') === ''
  // In this thread, because pino's transports load files at run time, which a single executable does not have.
  return pino(options, pretty({ destination: 2, sync: true, colorize, translateTime: 'SYS:HH:MM:ss.l' }))
}

function withoutWaiting() {
  /** Since when nothing was written although lines wait; undefined if none waits. */
  let waitsSince: number | undefined
  // Before pino's own listener, which writes what waits, however long that takes.
  process.prependListener('exit', () => {
    if (waitsSince !== undefined && performance.now() - waitsSince >= STALLED_MS) lines.destroy()
  })
  // With a minimum of 0, a flush would not wait for the lines.
  const lines = pino.destination({ dest: 2, sync: false, minLength: 1, maxLength: WAITING_BYTES_MAX })
  // A full disk must not end the service: its lines wait, and are dropped when they are too many.
  lines.on('error', () => {})
  lines.on('write', () => {
    waitsSince = performance.now()
  })
  lines.on('drain', () => {
    waitsSince = undefined
  })
  const noteLine = (): void => {
    waitsSince ??= performance.now()
  }
  return { lines, noteLine }
}

/** Resolves when the lines of a log are written, or their reader has stopped reading. */
export async function logWritten(log: pino.Logger): Promise<void> {
  const written = new Promise<void>((resolve) => log.flush(() => resolve()))
  // A little later, so that the exit after it sees that the time is over.
  await Promise.race([written, Bun.sleep(STALLED_MS + 50)])
}

/**
 * Members of an error for the log. For database errors only message and code, since the driver's own members contain
 * statements.
 */
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

/** Limits log lines about a database outage to one a second, since every part that needs the database would log it. */
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
