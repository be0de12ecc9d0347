import { z } from 'zod'
import { MAX_PATH_LENGTH, type Path } from '../engine/conditions/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { eventIdPathOf, parseEventIdPath } from '../engine/verification/index.ts'
import { DEDUPE_MODES } from '../engine/words/index.ts'
import { type Limits, retentionMs } from '../plans/index.ts'

/** Bounds of the window in which an event counts as the same, in seconds; part of the API. */
const DEDUPE_WINDOW_SECONDS = { min: 1, max: 2_592_000 } as const

/** The `by` that means the event id of the sender. */
const BY_EVENT = 'event'

const By = z.string().superRefine((text, context) => {
  if (text === BY_EVENT) return
  const parsed = parseEventIdPath(text.slice(0, MAX_PATH_LENGTH * 2))
  if ('path' in parsed) return
  const { code, reason } = parsed.problem
  context.addIssue({ code: 'custom', params: { code }, message: reason })
})

/** Setting that finds captures of the same event, and decides the treatment of those after the first. */
export const Dedupe = z.object({
  by: By.describe(
    'What they have in common: `event`, the event id, or the path of a value like `body.order.id`',
  ),
  windowSeconds: z
    .int()
    .min(DEDUPE_WINDOW_SECONDS.min)
    .max(DEDUPE_WINDOW_SECONDS.max)
    .describe('For so long after the first; at most as long as requests are kept'),
  then: z
    .enum(DEDUPE_MODES)
    .describe(
      '`mark` only shows it; `skip` stores the duplicate and runs no action; `discard` counts it and stores nothing. The sender is answered as for the first',
    ),
})

export type Dedupe = z.output<typeof Dedupe>

/** {@link Dedupe} in the form in which captures are evaluated. */
export interface DedupeSettings extends Dedupe {
  /** Path of the key; null for the event id. */
  readonly path: Path | null
}

/** Checks that the window of a setting is not longer than the plan's retention. */
export function checkDedupe(
  dedupe: Pick<Partial<Dedupe>, 'windowSeconds'> | null | undefined,
  limits: Limits,
): InputIssue[] {
  const days = limits.retentionDays
  if ((dedupe?.windowSeconds ?? 0) * 1000 <= retentionMs(limits)) return []
  const detail = `The plan keeps requests for ${days} ${days === 1 ? 'day' : 'days'}, so the window is at most ${retentionMs(limits) / 1000} seconds.`
  return [{ path: ['dedupe', 'windowSeconds'], code: 'out_of_range', detail }]
}

/** Reads a stored setting; null without one. */
export function storedDedupe(text: string | null): Dedupe | null {
  return text === null ? null : JSON.parse(text)
}

/** Reads a stored setting for captures. Its window is at most the retention of the present plan. */
export function dedupeSettings(text: string | null, limits: Limits): DedupeSettings | null {
  const dedupe = storedDedupe(text)
  if (dedupe === null) return null
  const path = dedupe.by === BY_EVENT ? null : eventIdPathOf(dedupe.by)
  if (path === null && dedupe.by !== BY_EVENT) return null
  const windowSeconds = Math.min(dedupe.windowSeconds, Math.max(1, Math.floor(retentionMs(limits) / 1000)))
  return { ...dedupe, path, windowSeconds }
}
