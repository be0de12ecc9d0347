import type { Command } from 'commander'
import type { ProgramTools } from './programTools.ts'

/** Adds arguments, options, subcommands and the action to a command that already has its name and description. */
type Configure = (command: Command, tools: ProgramTools) => void

/** One command of the program, without its code. */
export interface CommandEntry {
  readonly name: string
  /** Another word for it. */
  readonly alias?: string
  /** One line, shown in the command's help; `creel --help` has room for 58 characters. */
  readonly description: string
  /** Whether it is about databases: it has the option `--cell <name>`. */
  readonly isOfCells?: true
  /** For programs: it runs and is not listed. */
  readonly isHidden?: true
  /** Loads the command's code, only when the command runs. */
  readonly load: () => Promise<Configure>
}

/** Commands that belong together in `creel --help`. */
export interface CommandGroup {
  readonly heading: string
  /** Whether `creel --help` shows descriptions, not only names. */
  readonly areDescribed?: true
  readonly commands: readonly CommandEntry[]
}

/** An entry: its name, its line of help, and its other members. */
const entry = (
  name: string,
  description: string,
  others: Omit<CommandEntry, 'name' | 'description'>,
): CommandEntry => ({ name, description, ...others })

/** The default command. */
export const QUICK_START = 'quick-start'

/** Every command, in the order of `creel --help`. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    heading: 'Every day:',
    areDescribed: true,
    commands: [
      entry(QUICK_START, 'start a service, or find the running one; open its console', {
        isHidden: true,
        load: async () => (await import('./commands/quickStart.ts')).addQuickStartCommand,
      }),
      entry('listen', 'forward captures to a local server, in order, without gaps', {
        load: async () => (await import('@creel/terminal/commands/listen')).addListenCommand,
      }),
      entry('tail', 'show captures as they arrive; nothing is sent', {
        load: async () => (await import('@creel/terminal/commands/tail')).addTailCommand,
      }),
      entry('send', 'send a signed sample event of a provider to an endpoint', {
        load: async () => (await import('@creel/terminal/commands/send')).addSendCommand,
      }),
      entry('open', 'open the console in a browser, signed in', {
        load: async () => (await import('@creel/terminal/commands/open')).addOpenCommand,
      }),
      entry('endpoints', 'list, create, read, change and delete capture endpoints', {
        load: async () => (await import('@creel/terminal/commands/endpoints')).addEndpointsCommands,
      }),
      entry('requests', 'list, read, note, delete, export, import captured requests', {
        load: async () => (await import('@creel/terminal/commands/requests')).addRequestsCommands,
      }),
      entry('await', 'wait for a matching request; exits with 1 if none arrives', {
        load: async () => (await import('@creel/terminal/commands/await')).addAwaitCommand,
      }),
      entry('replay', 'send captured requests again', {
        load: async () => (await import('@creel/terminal/commands/replay')).addReplayCommand,
      }),
      entry('deliveries', 'list delivery attempts, or read one in full', {
        load: async () => (await import('@creel/terminal/commands/deliveries')).addDeliveriesCommand,
      }),
    ],
  },
  {
    heading: 'Set up:',
    commands: [
      entry('actions', 'list, create, change, pause and delete the actions of an endpoint', {
        load: async () => (await import('@creel/terminal/commands/nounSets')).addActionsCommands,
      }),
      entry('rules', 'list, create, change and delete transformation rules', {
        load: async () => (await import('@creel/terminal/commands/nounSets')).addRulesCommands,
      }),
      entry('channels', 'list, create, change and delete alert channels', {
        load: async () => (await import('@creel/terminal/commands/nounSets')).addChannelsCommands,
      }),
      entry('providers', 'list the recognised providers', {
        load: async () => (await import('@creel/terminal/commands/providers')).addProvidersCommand,
      }),
      entry('reconcile', "compare an endpoint with its sender's list of events, and fetch the missing ones", {
        load: async () => (await import('@creel/terminal/commands/reconcile')).addReconcileCommand,
      }),
      entry('rehearse', 'send many captures again to a server, with faults, and compare its answers', {
        load: async () => (await import('@creel/terminal/commands/rehearse')).addRehearseCommand,
      }),
      entry('share', 'make, list and revoke links that show one request to readers without a key', {
        load: async () => (await import('@creel/terminal/commands/share')).addShareCommand,
      }),
      entry('subscriptions', 'list, show and end the subscriptions of agents to events', {
        load: async () => (await import('@creel/terminal/commands/subscriptions')).addSubscriptionsCommand,
      }),
      entry('watchdogs', 'list, create, change and delete watchdogs', {
        load: async () => (await import('@creel/terminal/commands/watchdogs')).addWatchdogsCommand,
      }),
    ],
  },
  {
    heading: 'Connect:',
    commands: [
      entry('login', 'check an API key and save it for later commands', {
        load: async () => (await import('@creel/terminal/commands/login')).addLoginCommand,
      }),
      entry('logout', 'remove the API key that login saved', {
        load: async () => (await import('@creel/terminal/commands/login')).addLogoutCommand,
      }),
      entry('whoami', 'show the service, workspace and key in use', {
        load: async () => (await import('@creel/terminal/commands/login')).addWhoamiCommand,
      }),
      entry('api', 'call an API operation by its name', {
        load: async () => (await import('@creel/terminal/commands/api')).addApiCommand,
      }),
      entry('mcp', 'serve the API as MCP tools for an agent, over stdin and stdout', {
        load: async () => (await import('./commands/mcp.ts')).addMcpCommand,
      }),
    ],
  },
  {
    heading: 'Operate:',
    commands: [
      entry('serve', 'run the service until it is stopped', {
        isOfCells: true,
        load: async () => (await import('./commands/serve.ts')).addServeCommand,
      }),
      entry('relay', 'run a service that gives strangers short-lived endpoints for `creel listen --relay`', {
        load: async () => (await import('./commands/relay.ts')).addRelayCommand,
      }),
      entry('migrate', 'run pending database migrations; serve does this too, and several may run at once', {
        isOfCells: true,
        load: async () => (await import('./commands/migrate.ts')).addMigrateCommand,
      }),
      entry('upgrade-check', 'show what starting this version would change; changes nothing', {
        isOfCells: true,
        load: async () => (await import('./commands/upgradeCheck.ts')).addUpgradeCheckCommand,
      }),
      entry('doctor', 'check database, clock, disk and address, and list what to change', {
        isOfCells: true,
        load: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
      }),
      entry('jobs', 'list the queues of background jobs, with what is due, running and failed', {
        isOfCells: true,
        load: async () => (await import('./commands/jobs.ts')).addJobsCommand,
      }),
      entry('config', 'print the effective configuration with masked secrets', {
        load: async () => (await import('./commands/config.ts')).addConfigCommand,
      }),
      entry('cells', 'list, check, add and drain the databases of CREEL_CELLS_FILE', {
        load: async () => (await import('./commands/cells.ts')).addCellsCommands,
      }),
      entry('workspace', 'create, list, rename and move workspaces, and change their plans', {
        alias: 'workspaces',
        isOfCells: true,
        load: async () => (await import('./commands/workspace.ts')).addWorkspaceCommands,
      }),
      entry('key', 'create, list, rotate and revoke the API keys of a workspace', {
        isOfCells: true,
        load: async () => (await import('./commands/key.ts')).addKeyCommands,
      }),
      entry('audit', 'show the audit log: each change with its actor, time and address', {
        isOfCells: true,
        load: async () => (await import('./commands/audit.ts')).addAuditCommand,
      }),
      entry('secrets', 'manage the keys that encrypt stored secrets', {
        isOfCells: true,
        load: async () => (await import('./commands/secrets.ts')).addSecretsCommands,
      }),
      entry('console', 'print a one-time sign-in link to the console', {
        isOfCells: true,
        load: async () => (await import('./commands/console.ts')).addConsoleCommand,
      }),
      entry('contact', 'add, list and remove the mail addresses that may get alerts', {
        isOfCells: true,
        load: async () => (await import('./commands/contact.ts')).addContactCommands,
      }),
      entry('purge', 'delete stored requests permanently, including those in the recycle bin', {
        isOfCells: true,
        load: async () => (await import('./commands/purge.ts')).addPurgeCommand,
      }),
      entry('healthcheck', 'check that the service on this machine is ready; exits with 1 if not', {
        load: async () => (await import('./commands/healthcheck.ts')).addHealthcheckCommand,
      }),
    ],
  },
  {
    heading: 'Shell:',
    commands: [
      entry('completion', 'print a completion script, e.g. for `source <(creel completion bash)`', {
        load: async () => (await import('./commands/complete.ts')).addCompletionCommand,
      }),
      entry('complete', 'list the possible next words of a command line, for completion scripts', {
        isHidden: true,
        load: async () => (await import('./commands/complete.ts')).addCompleteCommand,
      }),
      entry('help', 'show the help of a command, e.g. `creel help key create`', {
        load: async () => (await import('./commands/help.ts')).addHelpCommand,
      }),
    ],
  },
]
