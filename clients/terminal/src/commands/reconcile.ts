import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { CallAnswer } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { chooseEndpoint } from '../api/endpointChoice.ts'
import { ClientError, givesMembers, usageError } from '../clientError.ts'
import { EXIT } from '../exitCodes.ts'
import { printHint, printJson, printText } from '../output/print.ts'
import { type ClientOptions, ENDPOINT_WORDS, openApi, withClientOptions } from '../session.ts'
import type { TerminalTools } from '../tools.ts'
import { requiredMoment } from '../words.ts'

type Reconciliation = CallAnswer<'reconcile_get'>

interface ReconcileOptions extends ClientOptions {
  readonly since: string
  readonly until?: string
  readonly types?: string
  readonly hook?: string
  readonly dryRun?: boolean
}

/** Holds the sender's key or token: on the command line every user of the machine could read it. */
const CREDENTIAL_VARIABLE = 'CREEL_RECONCILE_KEY'
const LOOK_EVERY_MS = 1000

export function addReconcileCommand(command: Command, tools: TerminalTools): void {
  withClientOptions(
    givesMembers(command, { 'credentials.hookUrl': '--hook' })
      .argument('[endpoint]', ENDPOINT_WORDS)
      .requiredOption('--since <when>', 'events since, e.g. 3d, 2026-11-01')
      .option('--until <when>', 'events until; events of the last minute are skipped')
      .option('--types <types>', 'only these types, e.g. invoice.paid,charge.failed')
      .option('--hook <url>', "GitHub only: URL of the hook in GitHub's API")
      .option('--dry-run', 'only count missing events'),
    {
      json: 'print the run as one JSON object',
      examples: [
        `read -rs ${CREDENTIAL_VARIABLE} && export ${CREDENTIAL_VARIABLE}`,
        'creel reconcile orders --since 3d --dry-run',
        'creel reconcile orders --since 3d --types invoice.paid',
        'creel reconcile builds --since 1d --hook https://api.github.com/repos/octo/app/hooks/1',
      ],
    },
  )
    .addHelpText(
      'after',
      `\nThe sender's key or token is read from ${CREDENTIAL_VARIABLE}, else from the terminal or stdin.\nExits with 1 if the run failed or events are still missing.`,
    )
    .action(async (wanted: string | undefined, options: ReconcileOptions) => {
      const since = requiredMoment(options.since, '--since')
      const until = options.until === undefined ? undefined : requiredMoment(options.until, '--until')
      const api = await openApi(options, tools)
      const endpoint = await chooseEndpoint(api, wanted)
      const credentials = await credentialsFor(endpoint.provider, options.hook)
      const types = options.types?.split(',').flatMap((type) => type.trim() || [])
      const run = await ended(
        api,
        endpoint.id,
        await api.calls.reconcile.start({
          endpointId: endpoint.id,
          credentials,
          since,
          until,
          types,
          dryRun: options.dryRun === true,
        }),
      )
      if (options.json === true) printJson(run)
      else printText(...linesOf(run, endpoint.name))
      if (run.state !== 'done' || run.counts.outstanding !== 0) process.exitCode = EXIT.failed
    })
}

async function credentialsFor(provider: string | null, hook: string | undefined) {
  if (provider === 'github') {
    if (hook === undefined)
      throw usageError(
        'The URL of the GitHub hook is missing.',
        'Give it with --hook, like https://api.github.com/repos/octo/app/hooks/1.',
      )
    return { token: await credential('GitHub token: '), hookUrl: hook }
  }
  if (provider === 'stripe') return { apiKey: await credential('Stripe API key: ') }
  throw new ClientError('Only endpoints of the providers stripe and github can be reconciled.', [
    'Set the provider: `creel endpoints update <endpoint> --provider stripe`.',
  ])
}

async function credential(question: string): Promise<string> {
  const given = process.env[CREDENTIAL_VARIABLE] || (await typed(question))
  if (given === '') throw usageError('The credential is missing.', `Set ${CREDENTIAL_VARIABLE}.`)
  return given
}

/** One line of stdin; on a terminal it is asked for, and not shown. */
async function typed(question: string): Promise<string> {
  const isTerminal = process.stdin.isTTY === true
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: isTerminal })
  try {
    if (isTerminal) printHint(question)
    for await (const line of lines) return line.trim()
    return ''
  } finally {
    lines.close()
  }
}

async function ended(
  { calls }: ApiClient,
  endpointId: string,
  started: Reconciliation,
): Promise<Reconciliation> {
  let run = started
  let shown = ''
  while (run.state === 'queued' || run.state === 'running') {
    await sleep(LOOK_EVERY_MS)
    run = await calls.reconcile.get({ endpointId, reconciliationId: started.id })
    const { listed, missing, redelivered, captured } = run.counts
    const words = `${listed} listed, ${missing} missing, ${redelivered + captured} fetched`
    if (process.stderr.isTTY === true && words !== shown) printHint(words)
    shown = words
  }
  return run
}

function linesOf({ counts, complete, dryRun, error, missingTypes }: Reconciliation, name: string): string[] {
  const { listed, found, missing, tooOld, redelivered, captured, refused, outstanding } = counts
  const brought = [
    ...(redelivered > 0 ? [`${redelivered} sent again`] : []),
    ...(captured > 0 ? [`${captured} captured`] : []),
    ...(refused > 0 ? [`${refused} refused by the sender`] : []),
    ...(dryRun ? [] : [`${outstanding ?? missing} still missing`]),
  ]
  return [
    ...(error === null ? [] : [`The run failed: ${error.detail}`]),
    // A sender that refused the first call has said nothing about its events.
    ...(error !== null && listed === 0
      ? []
      : [`The sender lists ${listed} events for "${name}": ${found} were captured, ${missing} are missing.`]),
    ...(tooOld > 0 ? [`${tooOld} are older than the retention of the endpoint and were skipped.`] : []),
    ...missingTypes.map(({ type, count }) => `  ${count}  ${type}`),
    ...(missing > 0 && brought.length > 0 ? [`${brought.join(', ')}.`] : []),
    ...(complete || error !== null
      ? []
      : ['The list is too long for one run. Only the newest events were compared.']),
  ]
}
