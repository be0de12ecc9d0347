import { Command, CommanderError } from 'commander'
import { clientFailure } from './client/clientError.ts'
import { printHint } from './commands/print.ts'
import type { ProgramParts } from './commands/programParts.ts'
import { COMMAND_GROUPS, type CommandEntry } from './commandTable.ts'
import { EXIT } from './exitCodes.ts'
import type { ProgramTools } from './programTools.ts'
import { VERSION } from './version.ts'

const HELP = `
Environment of developers' commands:
  CREEL_URL, CREEL_KEY      the service and the API key; default: of \`creel login\`, else of the data folder
  NO_COLOR                  no colours

Environment of the service:
  DATABASE_URL              PostgreSQL 15 or newer; default: an embedded one
  CREEL_DATABASE_READ_URL   a read-only replica of it, for lists and searches
  CREEL_DATA_DIR            embedded database and secret key; default .creel
  CREEL_HOST, CREEL_PORT    where the gateway listens; default 127.0.0.1, 4400 (0 = any free port)
  CREEL_BASE_URL            public address of the API; default from host and port
  CREEL_CAPTURE_URL         public address of capture URLs; default as CREEL_BASE_URL
  CREEL_SECRET_KEY          32 bytes in base64; required with DATABASE_URL, else generated
  CREEL_SECRET_KEYS         several, the newest first, in its place
  CREEL_ALLOW_DESTINATIONS  private CIDRs or hosts that forwards and alerts may reach
  CREEL_TRUSTED_PROXIES     CIDRs whose X-Forwarded-For counts
  CREEL_PLANS_FILE          JSON that overrides plan limits
  CREEL_DEFAULT_PLAN        of new workspaces; default team
  CREEL_STORAGE_MAX         what all captures may take, like 50GB; off: no limit
  CREEL_FORMER_HOSTS        host names that answer 301 to the base URL
  CREEL_SMTP_URL            smtp:// or smtps:// server for alert mail
  CREEL_MAIL_FROM           sender of alert mail
  CREEL_ALERT_API_URLS      telegram=<url>,pagerduty=<url>,opsgenie=<url> in place of the public ones
  CREEL_RETRY_SCHEDULE      delays between the attempts of a delivery; default 5s,5m,30m,2h,5h,10h
  CREEL_LOG_LEVEL           fatal, error, warn, info, debug, trace or silent; default info
  CREEL_METRICS_PORT        /metrics on a port of its own
  CREEL_AUDIT_RETENTION_DAYS
                            days for which the audit log is kept; default 365
  CREEL_CONSOLE             off: no console, and nobody signs in with a browser
  CREEL_DATABASE_CONNECTIONS, CREEL_QUEUE_CONNECTIONS
                            of one process to the database; default 16 and 6
  CREEL_CONNECTIONS_MAX     open connections in all; default what the descriptor limit leaves
  CREEL_CONNECTIONS_PER_ADDRESS
                            and of one address; default 2000

Exit codes:
  0  done; a service that was asked to stop has drained
  1  failed or refused; the reason is on stderr
  2  the environment or the command line is wrong
  129, 130, 143  ended at once by a second signal

Start here:
  creel serve                                     the service, on an embedded PostgreSQL
  creel requests list                             what was captured, beside a running service
  creel key create --workspace default --name ci  another API key`

/** The command line with every command's name and description, and the code of none. */
function outline(): Command {
  const program = new Command('creel')
    .description('Captures webhooks, shows them, and plays them back.')
    .version(VERSION)
    .showSuggestionAfterError()
    .addHelpText('after', HELP)
    .helpCommand(false)
    .exitOverride()
  for (const { heading, commands } of COMMAND_GROUPS) {
    for (const { name, description, isHidden } of commands) {
      program
        .command(name, { hidden: isHidden === true })
        .description(description)
        .helpGroup(heading)
        .helpCommand(false)
    }
  }
  return program
}

const ENTRIES: readonly CommandEntry[] = COMMAND_GROUPS.flatMap(({ commands }) => commands)

async function fill(program: Command, entries: readonly CommandEntry[], parts: ProgramParts): Promise<void> {
  const tools: ProgramTools = { ...parts, whole: (only) => createProgram(parts, only) }
  for (const { name, load } of entries) {
    const command = program.commands.find((known) => known.name() === name)
    if (command !== undefined) (await load())(command, tools)
  }
  pointToHelp(program, 'creel')
}

/**
 * Builds the whole command line: every command with its options and help.
 *
 * @param only loads the code of this command alone; of the others there is the name and the description
 */
export async function createProgram(parts: ProgramParts, only?: string): Promise<Command> {
  const program = outline()
  await fill(program, only === undefined ? ENTRIES : ENTRIES.filter(({ name }) => name === only), parts)
  return program
}

/** After a mistake every command names its own help. */
function pointToHelp(command: Command, chain: string): void {
  command.showHelpAfterError(`(\`${chain} --help\` tells more)`)
  for (const sub of command.commands) pointToHelp(sub, `${chain} ${sub.name()}`)
}

/**
 * Runs one command line and ends the process with its code, once what was printed has been written. Only the code of
 * the command that runs is loaded.
 *
 * @param words the command line without program and script
 */
export async function runProgram(words: readonly string[], parts: ProgramParts): Promise<void> {
  // Whoever reads has gone (`| head`): there is nobody to write for.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  try {
    const program = outline()
    const first = words.find((word) => !word.startsWith('-'))
    await fill(
      program,
      ENTRIES.filter(({ name }) => name === first),
      parts,
    )
    await program.parseAsync([...words], { from: 'user' })
  } catch (error) {
    process.exitCode = await exitCodeOfFailure(error)
  }
}

async function exitCodeOfFailure(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  const ofClient = clientFailure(error)
  if (ofClient !== undefined) {
    printHint(...ofClient.lines)
    return ofClient.exitCode
  }
  return (await import('./commands/failures.ts')).reportFailure(error)
}
