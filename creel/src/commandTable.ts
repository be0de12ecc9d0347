import type { Command } from 'commander'
import type { ProgramTools } from './programTools.ts'

/** Adds arguments, options, subcommands and the action to a command that already has its name and description. */
type Configure = (command: Command, tools: ProgramTools) => void

/** One command of the program, without its code. */
export interface CommandEntry {
  readonly name: string
  /** One line, shown in the command's help; `creel --help` has room for 58 characters. */
  readonly description: string
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
        description: 'start a service, or find the one that runs; open its page',
        isHidden: true,
        load: async () => (await import('./client/commands/quickStart.ts')).addQuickStartCommand,
      },
      {
        name: 'listen',
        description: 'bring captures to a local server as they come, without gaps',
        load: async () => (await import('./client/commands/listen.ts')).addListenCommand,
      },
      {
        name: 'tail',
        description: 'follow captures without sending them anywhere',
        load: async () => (await import('./client/commands/tail.ts')).addTailCommand,
      },
      {
        name: 'send',
        description: 'send a sample event of a provider, signed, to an endpoint',
        load: async () => (await import('./client/commands/send.ts')).addSendCommand,
      },
      {
        name: 'open',
        description: 'open the console in a browser, signed in',
        load: async () => (await import('./client/commands/open.ts')).addOpenCommand,
      },
      {
        name: 'endpoints',
        description: 'list, make, read, change and delete capture endpoints',
        load: async () => (await import('./client/commands/endpoints.ts')).addEndpointsCommands,
      },
      {
        name: 'requests',
        description: 'list, read, delete, export and import captured requests',
        load: async () => (await import('./client/commands/requests.ts')).addRequestsCommands,
      },
      {
        name: 'await',
        description: 'wait for a matching request; ends with 1 when none came',
        load: async () => (await import('./client/commands/await.ts')).addAwaitCommand,
      },
      {
        name: 'replay',
        description: 'send captured requests again',
        load: async () => (await import('./client/commands/replay.ts')).addReplayCommand,
      },
      {
        name: 'deliveries',
        description: 'list delivery attempts, or read one whole',
        load: async () => (await import('./client/commands/deliveries.ts')).addDeliveriesCommand,
      },
    ],
  },
  {
    heading: 'Set up:',
    commands: [
      {
        name: 'actions',
        description: 'list, make, change, pause and delete actions of an endpoint',
        load: async () => (await import('./client/commands/nounSets.ts')).addActionsCommands,
      },
      {
        name: 'rules',
        description: 'list, make, change and delete transformation rules',
        load: async () => (await import('./client/commands/nounSets.ts')).addRulesCommands,
      },
      {
        name: 'channels',
        description: 'list, make, change and delete alert channels',
        load: async () => (await import('./client/commands/nounSets.ts')).addChannelsCommands,
      },
      {
        name: 'providers',
        description: 'list the providers whose events are recognised',
        load: async () => (await import('./client/commands/providers.ts')).addProvidersCommand,
      },
      {
        name: 'reconcile',
        description: 'find events that never came in the list of their sender, and bring them',
        load: async () => (await import('./client/commands/reconcile.ts')).addReconcileCommand,
      },
      {
        name: 'watchdogs',
        description: 'list, make, change and delete watchdogs',
        load: async () => (await import('./client/commands/watchdogs.ts')).addWatchdogsCommand,
      },
    ],
  },
  {
    heading: 'Connect:',
    commands: [
      {
        name: 'login',
        description: 'check a key and keep it for later commands',
        load: async () => (await import('./client/commands/login.ts')).addLoginCommand,
      },
      {
        name: 'logout',
        description: 'forget the key that login kept',
        load: async () => (await import('./client/commands/login.ts')).addLogoutCommand,
      },
      {
        name: 'whoami',
        description: 'show which service, workspace and key commands use',
        load: async () => (await import('./client/commands/whoami.ts')).addWhoamiCommand,
      },
      {
        name: 'api',
        description: 'call any operation of the API by its name',
        load: async () => (await import('./client/commands/api.ts')).addApiCommand,
      },
      {
        name: 'mcp',
        description: 'serve the API to an agent as tools, over standard input and output',
        load: async () => (await import('./client/commands/mcp.ts')).addMcpCommand,
      },
    ],
  },
  {
    heading: 'Operate:',
    commands: [
      {
        name: 'serve',
        description: 'run the service until it is stopped',
        load: async () => (await import('./commands/serve.ts')).addServeCommand,
      },
      {
        name: 'migrate',
        description: 'bring the database up to date; serve does so too, and several at once do no harm',
        load: async () => (await import('./commands/migrate.ts')).addMigrateCommand,
      },
      {
        name: 'upgrade-check',
        description: 'what starting this version would do here; changes nothing',
        load: async () => (await import('./commands/upgradeCheck.ts')).addUpgradeCheckCommand,
      },
      {
        name: 'doctor',
        description: 'check database, clock, disk and address, and say what to change',
        load: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
      },
      {
        name: 'jobs',
        description: 'list the queues of background jobs, with what is due, running and failed',
        load: async () => (await import('./commands/jobs.ts')).addJobsCommand,
      },
      {
        name: 'config',
        description: 'print the effective configuration, secrets masked',
        load: async () => (await import('./commands/config.ts')).addConfigCommand,
      },
      {
        name: 'workspace',
        description: 'workspaces: who owns endpoints, keys and limits',
        load: async () => (await import('./commands/workspace.ts')).addWorkspaceCommands,
      },
      {
        name: 'key',
        description: 'API keys of a workspace',
        load: async () => (await import('./commands/key.ts')).addKeyCommands,
      },
      {
        name: 'audit',
        description: 'who changed what, when and from where',
        load: async () => (await import('./commands/audit.ts')).addAuditCommand,
      },
      {
        name: 'secrets',
        description: 'the keys that stored secrets are sealed with',
        load: async () => (await import('./commands/secrets.ts')).addSecretsCommands,
      },
      {
        name: 'console',
        description: 'print a link that signs a browser in to the console, once',
        load: async () => (await import('./commands/console.ts')).addConsoleCommand,
      },
      {
        name: 'contact',
        description: 'people whom alerts are mailed to',
        load: async () => (await import('./commands/contact.ts')).addContactCommands,
      },
      {
        name: 'purge',
        description: 'remove stored requests for good, the recycle bin included',
        load: async () => (await import('./commands/purge.ts')).addPurgeCommand,
      },
      {
        name: 'healthcheck',
        description: 'ask the service on this machine whether it is ready; ends with 1 when it is not',
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
        load: async () => (await import('./commands/completion.ts')).addCompletionCommand,
      },
      {
        name: 'complete',
        description: 'what may follow the words of a command line, for completion scripts',
        isHidden: true,
        load: async () => (await import('./commands/complete.ts')).addCompleteCommand,
      },
      {
        name: 'help',
        description: 'describe what a command does and takes, e.g. `creel help key create`',
        load: async () => (await import('./commands/help.ts')).addHelpCommand,
      },
    ],
  },
]
