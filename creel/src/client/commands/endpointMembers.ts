import type { Command } from 'commander'
import { usageError } from '../clientError.ts'
import { jsonOrText, spanOption } from '../words.ts'

/** Members of an endpoint as options. */
export interface MemberOptions {
  readonly name?: string
  readonly provider?: string
  readonly signingSecret?: string
  readonly ttl?: number
  readonly on?: boolean
  readonly off?: boolean
  readonly set?: readonly string[]
}

/** Adds the members that people set most as options, and `--set` for all the others. */
export function withMemberOptions(command: Command, { isNew }: { isNew: boolean }): Command {
  command
    .option('--name <name>', 'shown to people, 1-100 characters')
    .option('--provider <slug>', 'who sends, e.g. stripe; "" for nobody known')
    .option('--signing-secret <secret>', 'what the sender signs with; "" for none')
  if (isNew) command.option('--ttl <span>', 'make it ephemeral, e.g. 15m', spanOption)
  return command
    .option('--on', 'take captures')
    .option('--off', 'answer senders 404')
    .option('--set <member=value...>', 'any member of the API, e.g. responseStatusCode=202')
}

/**
 * The members that the options name, as the API takes them.
 *
 * @throws ClientError for a `--set` that is no assignment
 */
export function membersOf(options: MemberOptions): Record<string, unknown> {
  const { name, provider, signingSecret, ttl, on, off, set = [] } = options
  const named = {
    name,
    provider,
    signingSecret,
    ttlSeconds: ttl === undefined ? undefined : Math.round(ttl / 1000),
    isActive: on === true ? true : off === true ? false : undefined,
  }
  const members: Record<string, unknown> = {}
  for (const [member, value] of Object.entries(named)) if (value !== undefined) members[member] = value
  for (const assignment of set) {
    const at = assignment.indexOf('=')
    if (at < 1)
      throw usageError(`--set does not understand "${assignment}".`, 'Write it like responseStatusCode=202.')
    members[assignment.slice(0, at)] = jsonOrText(assignment.slice(at + 1))
  }
  return members
}
