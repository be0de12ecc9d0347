import { z } from 'zod'
import { Timestamp } from '../api/values.ts'
import { LIMIT_MEANINGS, limitsOf, PLAN_KEYS } from '../plans/index.ts'

/** A workspace as operators see it. */
export const Workspace = z.object({
  id: z.uuid(),
  name: z.string(),
  plan: z.enum(PLAN_KEYS),
  createdAt: Timestamp,
})

/** Name of a workspace: trimmed, 1 to 100 characters. */
export const WorkspaceName = z.string().trim().min(1).max(100)

/** An operator's reference to a workspace: its id or its name. */
export const WorkspaceReference = z.string().trim().min(1).max(100)

export const PlanKeyInput = z.enum(PLAN_KEYS)

export const PlanLimits = z
  .object(limitsOf((name) => z.int().describe(LIMIT_MEANINGS[name])))
  .meta({ id: 'PlanLimits' })
