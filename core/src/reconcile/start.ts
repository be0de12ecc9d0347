import { randomUUID } from 'node:crypto'
import type { Accepted } from '../api/checks.ts'
import type { Context } from '../api/context.ts'
import { validationFailed } from '../api/errors.ts'
import { recordChange } from '../audit/index.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { type InputIssue, issue } from '../engine/issues.ts'
import { findProvider, type SentList } from '../engine/providers/index.ts'
import { retentionMs } from '../plans/index.ts'
import { admitRun } from '../runs/index.ts'
import { RECONCILIATION_RUNS, RECONCILIATIONS, SETTLING_MS } from './declarations.ts'
import type { StartInput } from './schema.ts'
import { apiUrlOf, isHookUrl, type SenderCredentials } from './senders/index.ts'
import { runView } from './view.ts'

/** The API in which the endpoint's provider lists sent events; undefined if there is none. */
function sentListOf({ provider }: Pick<EndpointRow, 'provider'>): SentList | undefined {
  return provider === null ? undefined : findProvider(provider)?.sentList
}

/** Checks of an input that the schema cannot express: provider, credentials and period. */
export function checkStart(
  ctx: Context & { readonly endpoint: EndpointRow },
  { credentials, since, until }: Accepted<StartInput>,
): InputIssue[] {
  const issues: InputIssue[] = []
  const sender = sentListOf(ctx.endpoint)
  if (sender === undefined || ctx.endpoint.eventIdPath !== null) {
    const detail =
      'Only endpoints with the provider stripe or github, and without an eventIdPath of their own, can be reconciled.'
    issues.push(issue(['credentials'], 'not_allowed', detail))
  } else if (credentials !== undefined) issues.push(...credentialIssues(ctx, sender, credentials))
  const now = ctx.clock.now().getTime()
  const { limits } = ctx.plan
  if (since !== undefined && until !== undefined && until < since)
    issues.push(issue(['until'], 'out_of_range', 'until is before since.'))
  if (since !== undefined && since.getTime() > now)
    issues.push(issue(['since'], 'out_of_range', 'since is in the future.'))
  if (since !== undefined && since.getTime() < now - retentionMs(limits)) {
    const detail = `since must be within the last ${limits.retentionDays} days, the retention of requests. Older events would all count as missing.`
    issues.push(issue(['since'], 'out_of_range', detail))
  }
  return issues
}

function credentialIssues(
  ctx: Context,
  sender: SentList,
  credentials: Accepted<StartInput['credentials']>,
): InputIssue[] {
  const needed = sender === 'stripe' ? (['apiKey'] as const) : (['token', 'hookUrl'] as const)
  const issues = needed
    .filter((name) => credentials[name] === undefined)
    .map((name) => issue(['credentials', name], 'required', `${name} is required for ${sender}.`))
  for (const name of ['apiKey', 'token', 'hookUrl'] as const) {
    if (credentials[name] === undefined || needed.some((one) => one === name)) continue
    const detail = `${name} is not for ${sender}, the provider of the endpoint.`
    issues.push(issue(['credentials', name], 'not_allowed', detail))
  }
  const baseUrl = apiUrlOf(ctx, 'github')
  const { hookUrl } = credentials
  if (sender === 'github' && hookUrl !== undefined && !isHookUrl(hookUrl, baseUrl)) {
    const detail = `The hook's address in the API is needed: ${baseUrl}/repos/<owner>/<repository>/hooks/<id> or ${baseUrl}/orgs/<organisation>/hooks/<id>.`
    issues.push(issue(['credentials', 'hookUrl'], 'bad_url', detail))
  }
  return issues
}

/** The credentials of an input, for a sender; undefined where one is lacking. */
function credentialsFor(
  sender: SenderCredentials['sender'],
  { apiKey, token, hookUrl }: StartInput['credentials'],
): SenderCredentials | undefined {
  if (sender === 'stripe') return apiKey === undefined ? undefined : { sender, apiKey }
  return token === undefined || hookUrl === undefined ? undefined : { sender, token, hookUrl }
}

/**
 * Queues a run: the run, its job and its audit entry, in one transaction. The credentials are sealed.
 *
 * @throws DomainError `rate_limited` while too many runs of the workspace are not done
 */
export async function startReconciliation(ctx: Context, endpoint: EndpointRow, input: StartInput) {
  const sender = sentListOf(endpoint)
  const credentials = sender && credentialsFor(sender, input.credentials)
  if (sender === undefined || credentials === undefined)
    throw validationFailed(checkStart({ ...ctx, endpoint }, input))
  const now = ctx.clock.now()
  const id = randomUUID()
  const members = {
    since: input.since,
    until: input.until,
    types: input.types ?? [],
    dryRun: input.dryRun ?? false,
  }
  return await ctx.db.transaction().execute(async (trx) => {
    await admitRun(trx, RECONCILIATIONS, { workspaceId: ctx.workspace.id, owner: endpoint.id })
    const row = await trx
      .insertInto('reconciliations')
      .values({
        id,
        workspaceId: ctx.workspace.id,
        endpointId: endpoint.id,
        sender,
        since: input.since,
        until: lastOf(input, now),
        types: JSON.stringify(members.types),
        dryRun: members.dryRun,
        credentials: ctx.secrets.seal(JSON.stringify(credentials), ctx.workspace.id),
        createdAt: now,
        dueAt: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await ctx.enqueue(trx, RECONCILIATION_RUNS, [{ payload: { reconciliationId: id } }])
    await recordChange(trx, ctx, {
      action: 'reconcile.start',
      workspaceId: ctx.workspace.id,
      subject: { type: 'endpoint', id: endpoint.id, name: endpoint.name },
      endpointId: endpoint.id,
      before: null,
      after: { reconciliationId: id, sender, ...members },
    })
    return runView(row)
  })
}

/** The end of the period: later events may still be on their way. */
function lastOf({ since, until }: Pick<StartInput, 'since' | 'until'>, now: Date): Date {
  const settled = now.getTime() - SETTLING_MS
  return new Date(Math.max(since.getTime(), Math.min(settled, until?.getTime() ?? settled)))
}
