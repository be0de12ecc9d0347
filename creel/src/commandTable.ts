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

/** The default command. */
export const QUICK_START = 'quick-start'

/** Every command, in the order of `creel --help`. */
export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    heading: 'Every day:',
    areDescribed: true,
    commands: [
      {
        name: QUICK_START,
        description: 'start a service, or find the running one; open its console',
        isHidden: true,
        load: async () => (await import('./commands/quickStart.ts')).addQuickStartCommand,
      },
      {
        name: 'listen',
        description: 'forward captures to a local server, in order, without gaps',
        load: async () => (await import('@creel/terminal/commands/listen')).addListenCommand,
      },
      {
        name: 'tail',
        description: 'show captures as they arrive; nothing is sent',
        load: async () => (await import('@creel/terminal/commands/tail')).addTailCommand,
      },
      {
        name: 'send',
        description: 'send a signed sample event of a provider to an endpoint',
        load: async () => (await import('@creel/terminal/commands/send')).addSendCommand,
      },
      {
        name: 'open',
        description: 'open the console in a browser, signed in',
        load: async () => (await import('@creel/terminal/commands/open')).addOpenCommand,
      },
      {
        name: 'endpoints',
        description: 'list, create, read, change and delete capture endpoints',
        load: async () => (await import('@creel/terminal/commands/endpoints')).addEndpointsCommands,
      },
      {
        name: 'requests',
        description: 'list, read, note, delete, export, import captured requests',
        load: async () => (await import('@creel/terminal/commands/requests')).addRequestsCommands,
      },
      {
        name: 'await',
        description: 'wait for a matching request; exits with 1 if none arrives',
        load: async () => (await import('@creel/terminal/commands/await')).addAwaitCommand,
      },
      {
        name: 'replay',
        description: 'send captured requests again',
        load: async () => (await import('@creel/terminal/commands/replay')).addReplayCommand,
      },
      {
        name: 'deliveries',
        description: 'list delivery attempts, or read one in full',
        load: async () => (await import('@creel/terminal/commands/deliveries')).addDeliveriesCommand,
      },
    ],
  },
  {
    heading: 'Set up:',
    commands: [
      {
        name: 'actions',
        description: 'list, create, change, pause and delete the actions of an endpoint',
        load: async () => (await import('@creel/terminal/commands/nounSets')).addActionsCommands,
      },
      {
        name: 'rules',
        description: 'list, create, change and delete transformation rules',
        load: async () => (await import('@creel/terminal/commands/nounSets')).addRulesCommands,
      },
      {
        name: 'channels',
        description: 'list, create, change and delete alert channels',
        load: async () => (await import('@creel/terminal/commands/nounSets')).addChannelsCommands,
      },
      {
        name: 'providers',
        description: 'list the recognised providers',
        load: async () => (await import('@creel/terminal/commands/providers')).addProvidersCommand,
      },
      {
        name: 'reconcile',
        description: "compare an endpoint with its sender's list of events, and fetch the missing ones",
        load: async () => (await import('@creel/terminal/commands/reconcile')).addReconcileCommand,
      },
      {
        name: 'rehearse',
        description: 'send many captures again to a server, with faults, and compare its answers',
        load: async () => (await import('@creel/terminal/commands/rehearse')).addRehearseCommand,
      },
      {
        name: 'share',
        description: 'make, list and revoke links that show one request to readers without a key',
        load: async () => (await import('@creel/terminal/commands/share')).addShareCommand,
      },
      {
        name: 'subscriptions',
        description: 'list, show and end the subscriptions of agents to events',
        load: async () => (await import('@creel/terminal/commands/subscriptions')).addSubscriptionsCommand,
      },
      {
        name: 'watchdogs',
        description: 'list, create, change and delete watchdogs',
        load: async () => (await import('@creel/terminal/commands/watchdogs')).addWatchdogsCommand,
      },
    ],
  },
  {
    heading: 'Connect:',
    commands: [
      {
        name: 'login',
        description: 'check an API key and save it for later commands',
        load: async () => (await import('@creel/terminal/commands/login')).addLoginCommand,
      },
      {
        name: 'logout',
        description: 'remove the API key that login saved',
        load: async () => (await import('@creel/terminal/commands/login')).addLogoutCommand,
      },
      {
        name: 'whoami',
        description: 'show the service, workspace and key in use',
        load: async () => (await import('@creel/terminal/commands/login')).addWhoamiCommand,
      },
      {
        name: 'api',
        description: 'call an API operation by its name',
        load: async () => (await import('@creel/terminal/commands/api')).addApiCommand,
      },
      {
        name: 'mcp',
        description: 'serve the API as MCP tools for an agent, over stdin and stdout',
        load: async () => (await import('./commands/mcp.ts')).addMcpCommand,
      },
    ],
  },
  {
    heading: 'Operate:',
    commands: [
      {
        name: 'serve',
        isOfCells: true,
        description: 'run the service until it is stopped',
        load: async () => (await import('./commands/serve.ts')).addServeCommand,
      },
      {
        name: 'relay',
        description: 'run a service that gives strangers short-lived endpoints for `creel listen --relay`',
        load: async () => (await import('./commands/relay.ts')).addRelayCommand,
      },
      {
        name: 'migrate',
        isOfCells: true,
        description: 'run pending database migrations; serve does this too, and several may run at once',
        load: async () => (await import('./commands/migrate.ts')).addMigrateCommand,
      },
      {
        name: 'upgrade-check',
        isOfCells: true,
        description: 'show what starting this version would change; changes nothing',
        load: async () => (await import('./commands/upgradeCheck.ts')).addUpgradeCheckCommand,
      },
      {
        name: 'doctor',
        isOfCells: true,
        description: 'check database, clock, disk and address, and list what to change',
        load: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
      },
      {
        name: 'jobs',
        isOfCells: true,
        description: 'list the queues of background jobs, with what is due, running and failed',
        load: async () => (await import('./commands/jobs.ts')).addJobsCommand,
      },
      {
        name: 'config',
        description: 'print the effective configuration with masked secrets',
        load: async () => (await import('./commands/config.ts')).addConfigCommand,
      },
      {
        name: 'cells',
        description: 'list, check, add and drain the databases of CREEL_CELLS_FILE',
        load: async () => (await import('./commands/cells.ts')).addCellsCommands,
      },
      {
        name: 'workspace',
        alias: 'workspaces',
        isOfCells: true,
        description: 'create, list and move workspaces, and change their plans',
        load: async () => (await import('./commands/workspace.ts')).addWorkspaceCommands,
      },
      {
        name: 'key',
        isOfCells: true,
        description: 'create, list, rotate and revoke the API keys of a workspace',
        load: async () => (await import('./commands/key.ts')).addKeyCommands,
      },
      {
        name: 'audit',
        isOfCells: true,
        description: 'show the audit log: each change with its actor, time and address',
        load: async () => (await import('./commands/audit.ts')).addAuditCommand,
      },
      {
        name: 'secrets',
        isOfCells: true,
        description: 'manage the keys that encrypt stored secrets',
        load: async () => (await import('./commands/secrets.ts')).addSecretsCommands,
      },
      {
        name: 'console',
        isOfCells: true,
        description: 'print a one-time sign-in link to the console',
        load: async () => (await import('./commands/console.ts')).addConsoleCommand,
      },
      {
        name: 'contact',
        isOfCells: true,
        description: 'add, list and remove the mail addresses that may get alerts',
        load: async () => (await import('./commands/contact.ts')).addContactCommands,
      },
      {
        name: 'purge',
        isOfCells: true,
        description: 'delete stored requests permanently, including those in the recycle bin',
        load: async () => (await import('./commands/purge.ts')).addPurgeCommand,
      },
      {
        name: 'healthcheck',
        description: 'check that the service on this machine is ready; exits with 1 if not',
        load: async () => (await import('./commands/healthcheck.ts')).addHealthcheckCommand,
      },
    ],
  },
  {
    heading: 'Shell:',
    commands: [
      {
        name: 'completion',
        description: 'print a completion script, e.g. for `source <(creel completion bash)`',
        load: async () => (await import('./commands/complete.ts')).addCompletionCommand,
      },
      {
        name: 'complete',
        description: 'list the possible next words of a command line, for completion scripts',
        isHidden: true,
        load: async () => (await import('./commands/complete.ts')).addCompleteCommand,
      },
      {
        name: 'help',
        description: 'show the help of a command, e.g. `creel help key create`',
        load: async () => (await import('./commands/help.ts')).addHelpCommand,
      },
    ],
  },
]
