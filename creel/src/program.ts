import { Command } from 'commander'
import { addCompletionCommand } from './commands/completion.ts'
import { addConfigCommand } from './commands/config.ts'
import { addContactCommands } from './commands/contact.ts'
import { reportFailure } from './commands/failures.ts'
import { addHealthcheckCommand } from './commands/healthcheck.ts'
import { addHelpCommand } from './commands/help.ts'
import { addKeyCommands } from './commands/key.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import type { ProgramParts } from './commands/programParts.ts'
import { addPurgeCommand } from './commands/purge.ts'
import { addServeCommand } from './commands/serve.ts'
import { addWorkspaceCommands } from './commands/workspace.ts'
import { VERSION } from './version.ts'

const HELP = `
Environment:
  DATABASE_URL              PostgreSQL 15 or newer; default: an embedded one
  CREEL_DATA_DIR            embedded database and secret key; default .creel
  CREEL_HOST, CREEL_PORT    where the gateway listens; default 127.0.0.1, 4400 (0 = any free port)
  CREEL_BASE_URL            public address of the API; default from host and port
  CREEL_CAPTURE_URL         public address of capture URLs; default as CREEL_BASE_URL
  CREEL_SECRET_KEY          32 bytes in base64; required with DATABASE_URL, else generated
  CREEL_ALLOW_DESTINATIONS  private CIDRs or hosts that forwards and alerts may reach
  CREEL_TRUSTED_PROXIES     CIDRs whose X-Forwarded-For and -Proto count
  CREEL_PLANS_FILE          JSON that overrides plan limits
  CREEL_FORMER_HOSTS        host names that answer 301 to the base URL
  CREEL_SMTP_URL            smtp:// or smtps:// server for alert mail
  CREEL_MAIL_FROM           sender of alert mail
  CREEL_ALERT_API_URLS      telegram=<url>,pagerduty=<url>,opsgenie=<url> in place of the public ones
  CREEL_LOG_LEVEL           fatal, error, warn, info, debug, trace or silent; default info
  CREEL_METRICS_PORT        /metrics on a port of its own

Exit codes:
  0  done; a service that was asked to stop has drained
  1  failed or refused; the reason is on stderr
  2  the environment or the command line is wrong
  129, 130, 143  ended at once by a second signal

Start here:
  creel serve                                     the service, on an embedded PostgreSQL
  creel key create --workspace default --name ci  another API key`

/** Builds the command line: every command with its options and help. */
export function createProgram(parts: ProgramParts): Command {
  const program = new Command('creel')
    .description('Captures webhooks, shows them, and plays them back.')
    .version(VERSION)
    .showSuggestionAfterError()
    .addHelpText('after', HELP)
    .exitOverride()
  addServeCommand(program, parts)
  addMigrateCommand(program, parts)
  addConfigCommand(program)
  addWorkspaceCommands(program, parts)
  addKeyCommands(program, parts)
  addContactCommands(program, parts)
  addPurgeCommand(program, parts)
  addHealthcheckCommand(program)
  addCompletionCommand(program)
  addHelpCommand(program)
  pointToHelp(program, 'creel')
  return program
}

/** After a mistake every command names its own help. */
function pointToHelp(command: Command, chain: string): void {
  command.showHelpAfterError(`(\`${chain} --help\` tells more)`)
  for (const sub of command.commands) pointToHelp(sub, `${chain} ${sub.name()}`)
}

/**
 * Runs one command line and ends the process with its code, once what was printed has been written.
 *
 * @param words the command line without program and script
 */
export async function runProgram(words: readonly string[], parts: ProgramParts): Promise<void> {
  try {
    await createProgram(parts).parseAsync([...words], { from: 'user' })
  } catch (error) {
    process.exitCode = reportFailure(error)
  }
}
