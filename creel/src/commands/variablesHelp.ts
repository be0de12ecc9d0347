/** Text of `creel help config`: every variable with its meaning, and the exit codes. */
export const VARIABLES_HELP = `
Environment of developers' commands:
  CREEL_URL, CREEL_KEY      the service and the API key; default: of \`creel login\`, else one on this machine
  CREEL_ENDPOINT            name, id or capture URL of the endpoint of commands that name none
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
  CREEL_PROVIDER_API_URLS   stripe=<url>,github=<url> in place of the public ones
  CREEL_RETRY_SCHEDULE      delays between the attempts of a delivery; default 5s,5m,30m,2h,5h,10h
  CREEL_LOG_LEVEL           fatal, error, warn, info, debug, trace or silent; default info
  CREEL_METRICS_PORT        /metrics on a port of its own
  CREEL_AUDIT_RETENTION_DAYS
                            days for which the audit log is kept; default 365
  CREEL_CONSOLE             off: no console, and nobody signs in with a browser
  CREEL_DISPATCH            off: captures are stored and nothing is sent, for restore drills
  CREEL_DATABASE_CONNECTIONS, CREEL_QUEUE_CONNECTIONS
                            of one process to the database; default 16 and 6
  CREEL_CONNECTIONS_MAX     open connections in all; default what the descriptor limit leaves
  CREEL_CONNECTIONS_PER_ADDRESS
                            and of one address; default 2000

Exit codes:
  0  done; a service that was asked to stop has drained
  1  failed or refused; the reason is on stderr
  2  the environment or the command line is wrong
  129, 130, 143  ended at once by a second signal`
