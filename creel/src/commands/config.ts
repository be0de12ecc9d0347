import { LIMIT_NAMES } from '@creel/core/plans'
import { type JsonOption, printHint, printJson, printTable, printText } from '@creel/terminal/output/print'
import type { Command } from 'commander'
import { decodeConfig, maskedConfig } from '../config/index.ts'
import { environmentBesideService } from '../dataFolder.ts'

export function addConfigCommand(command: Command): void {
  command.addHelpText('after', VARIABLES_HELP)
  command.option('--json', 'print one JSON object on one line').action(async ({ json }: JsonOption) => {
    const { config, warnings } = decodeConfig(await environmentBesideService(process.env))
    for (const warning of warnings) printHint(`warning: ${warning}`)
    const { variables, plans } = maskedConfig(config)
    if (json === true) return printJson({ ...variables, plans })
    printTable(Object.entries(variables), {
      Variable: ([name]) => name,
      Value: ([, value]) => shown(value),
    })
    printText('')
    const ofPlans = Object.entries(plans).map(
      ([key, limits]) => [key, (limit: (typeof LIMIT_NAMES)[number]) => shown(limits[limit])] as const,
    )
    printTable(LIMIT_NAMES, {
      Limit: (limit) => limit,
      ...Object.fromEntries(ofPlans),
    })
  })
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map((entry) => entry.join('='))
    .join(', ')
}

/** Text of `creel help config`: every variable with its meaning, and the exit codes. */
const VARIABLES_HELP = `
Environment of the client commands:
  CREEL_URL, CREEL_KEY      service and API key; default those of \`creel login\`, else one on this machine
  CREEL_ENDPOINT            default endpoint: name, id or capture URL
  NO_COLOR                  no colours

Environment of the service:
  DATABASE_URL              PostgreSQL 15 or newer; default an embedded one
  CREEL_DATABASE_READ_URL   read-only replica, for lists and searches
  CREEL_CELLS_FILE          JSON file of several databases; replaces DATABASE_URL
  CREEL_CELL                name of the cell that a command is for; default all
  CREEL_DATA_DIR            folder of the embedded database and the secret key; default .creel
  CREEL_HOST, CREEL_PORT    address to listen on; default 127.0.0.1 and 4400 (0: any free port)
  CREEL_BASE_URL            public URL of the API; default from host and port
  CREEL_CAPTURE_URL         public URL for captures; default CREEL_BASE_URL
  CREEL_SECRET_KEY          32 bytes in base64; required with DATABASE_URL, else generated
  CREEL_SECRET_KEYS         several such keys, newest first, for rotation; replaces CREEL_SECRET_KEY
  CREEL_ALLOW_DESTINATIONS  private CIDRs or hosts that forwards and alerts may reach
  CREEL_TRUSTED_PROXIES     CIDRs of proxies whose X-Forwarded-For is believed
  CREEL_PLANS_FILE          JSON file that overrides plan limits
  CREEL_DEFAULT_PLAN        plan of new workspaces; default self-hosted, without limits
  CREEL_STORAGE_MAX         limit for all stored captures, e.g. 50GB; off: no limit
  CREEL_FORMER_HOSTS        old host names, redirected (301) to the base URL
  CREEL_SMTP_URL            mail server for alerts, smtp:// or smtps://
  CREEL_MAIL_FROM           sender address of alert mail
  CREEL_ALERT_API_URLS      telegram=<url>,pagerduty=<url>,opsgenie=<url> in place of the public ones
  CREEL_PROVIDER_API_URLS   stripe=<url>,github=<url> in place of the public ones
  CREEL_RETRY_SCHEDULE      delays between the attempts of a delivery; default 5s,5m,30m,2h,5h,10h
  CREEL_LOG_LEVEL           fatal, error, warn, info, debug, trace or silent; default info
  CREEL_METRICS_PORT        separate port for /metrics
  CREEL_METRICS_TOKEN       bearer token for /metrics on the gateway's port
  CREEL_AUDIT_RETENTION_DAYS
                            retention of the audit log in days; default 365
  CREEL_CONSOLE             off: no console, and no sign-in with a browser
  CREEL_OAUTH               off: agents cannot sign in by OAuth, and need a key
  CREEL_DISPATCH            off: captures are stored but nothing is sent, for restore drills
  CREEL_GATEWAYS            gateway processes on one port (Linux); default one for each four cores
                            beyond the first two, at least 1
  CREEL_DATABASE_CONNECTIONS, CREEL_QUEUE_CONNECTIONS
                            database connections of one program; default 16 and 6
  CREEL_CONNECTIONS_MAX     limit for open connections; default from the file descriptor limit
  CREEL_CONNECTIONS_PER_ADDRESS
                            limit for open connections of one address; default 2000

Exit codes:
  0  success; a service that was asked to stop has drained
  1  failed or refused; the reason is on stderr
  2  the environment or the command line has an error
  129, 130, 143  stopped at once by a second signal`
