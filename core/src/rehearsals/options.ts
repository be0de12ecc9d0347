import { z } from 'zod'
import type { Accepted } from '../api/checks.ts'
import type { Target } from '../engine/message/index.ts'
import type { RuleSet } from '../transformations/index.ts'
import { ORDERS, SIGNERS, type StartInput, startInput } from './schema.ts'

/** The part of the input that a replay keeps. */
const Options = z.object({
  to: startInput.shape.to,
  order: z.enum(ORDERS),
  sign: z.enum(SIGNERS),
  /** The text of the rule document. */
  edit: z.string().nullable(),
  compare: startInput.shape.compare,
  concurrency: z.int(),
  timeoutSeconds: z.int().nullable(),
})
export type ReplayOptions = z.output<typeof Options>

/** Writes the options for their column. */
export function optionsText(input: StartInput): string {
  const { to, order, sign, edit, compare, concurrency, timeoutSeconds = null } = input
  const kept = { to, order, sign, compare, concurrency, timeoutSeconds }
  return JSON.stringify({ ...kept, edit: edit === undefined || edit === null ? null : JSON.stringify(edit) })
}

/** Reads options that {@link optionsText} wrote. */
export function storedOptions(text: string): ReplayOptions {
  return Options.parse(JSON.parse(text))
}

/** The rule document as a set of one rule. */
export function editRules({ edit }: Pick<ReplayOptions, 'edit'>): RuleSet {
  if (edit === null) return []
  return [
    {
      id: 'edit',
      name: 'edit',
      version: 1,
      enabled: true,
      disabledReason: null,
      holdsDeliveries: false,
      text: edit,
    },
  ]
}

/** The action whose recorded answers are the baseline: the one that was named, else the one that is rehearsed. */
export function baselineAction({
  compare,
  to,
}: Accepted<Pick<StartInput, 'compare' | 'to'>>): string | undefined {
  return compare?.actionId ?? (to !== undefined && 'actionId' in to ? to.actionId : undefined)
}

/** Destination of requests that pass through no action; no URL if they do, or if listeners take them. */
export function urlTarget({ to }: Pick<ReplayOptions, 'to'>): Target {
  const appends = 'url' in to && to.appendPath === true
  return { url: 'url' in to ? to.url : '', appendPath: appends, appendQuery: appends }
}
