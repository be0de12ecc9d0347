import type { Command } from 'commander'
import type { RequestFilters } from 'creel-client'
import { givesMembers } from './clientError.ts'
import { requestIdOption, requiredMoment } from './words.ts'

/** The filters of the API's list, as options. */
export interface FilterOptions {
  readonly q?: string
  readonly method?: string
  readonly label?: string
  readonly event?: string
  readonly state?: string
  readonly needsAttention?: boolean
  readonly verification?: string
  readonly since?: string
  readonly until?: string
  readonly after?: number
}

/** Adds the filters of the API's list; all of them combine with AND. */
export function withFilterOptions(command: Command): Command {
  return givesMembers(command, { eventId: '--event', afterId: '--after' })
    .option('--q <text>', 'text in path, query, header values or body, ignoring case')
    .option('--method <method>', 'HTTP method')
    .option('--label <type>', 'event type, e.g. order.paid')
    .option('--event <id>', "the sender's event id")
    .option('--state <state>', 'latest delivery state, e.g. Failed')
    .option('--needs-attention', 'only requests whose newest attempt through some action failed')
    .option('--no-needs-attention', 'only the others')
    .option('--verification <verdict>', 'verified, failed, unsigned, unverifiable or none')
    .option('--since <when>', 'received since, e.g. 10m, 2026-11-01')
    .option('--until <when>', 'received before')
    .option('--after <id>', 'only requests after this id', requestIdOption)
}

/**
 * The filters as the API's input.
 *
 * @throws ClientError for an invalid time
 */
export function filterQuery(options: FilterOptions): RequestFilters {
  const { q, method, label, event, state, needsAttention, verification, since, until, after } = options
  // The service checks the words.
  const words: Record<string, string | number | boolean | undefined> = {
    q,
    method,
    label,
    eventId: event,
    state,
    needsAttention,
    verification,
    since: since === undefined ? undefined : requiredMoment(since, '--since'),
    until: until === undefined ? undefined : requiredMoment(until, '--until'),
    afterId: after,
  }
  return words
}
