import { issuesOf, type ToolEffect, toProblem, validationFailed, widthIssues } from '@creel/core'
import type { McpServer } from '@modelcontextprotocol/server'
import { CreelError } from 'creel-client'
import { z } from 'zod'
import type { Masking } from './masked.ts'
import { type McpApi, type Renamed, refusalText } from './mcpApi.ts'

export interface ToolContext {
  readonly api: McpApi
  readonly masking: Masking
}

/** A tool that a server may offer. */
export interface Tool {
  readonly name: string
  readonly effect: ToolEffect
  readonly register: (server: McpServer, context: ToolContext) => void
}

/** Schemas of the routes' members, by the open arguments that have only their JSON Schema. */
export const exact = z.registry<{ readonly schema: z.ZodType }>()

/**
 * Declares a tool. Its result is masked, unless the tool has done so, and sent as JSON. A refusal is sent to the model,
 * which may correct its input.
 */
export function tool<Shape extends z.ZodRawShape>(declaration: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly effect: ToolEffect
  readonly input: z.ZodObject<Shape>
  readonly renamed?: Renamed
  /** Whether `run` masks its result itself. */
  readonly isMasked?: true
  readonly run: (api: McpApi, input: z.output<z.ZodObject<Shape>>, masking: Masking) => Promise<unknown>
}): Tool {
  const { name, title, description, effect, input, renamed, isMasked, run } = declaration
  const annotations = {
    title,
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'sends',
    idempotentHint: effect === 'reads',
    openWorldHint: effect === 'sends',
  }
  const strict = input.strict()
  // The SDK takes the JSON Schema only. Its own check would name missing arguments and leave out wrong ones.
  const inputSchema = { '~standard': { ...strict['~standard'], validate: (value: unknown) => ({ value }) } }
  return {
    name,
    effect,
    register(server, { api, masking }) {
      server.registerTool(name, { title, description, inputSchema, annotations }, async (given: unknown) => {
        try {
          const { data, success } = strict.safeParse(given)
          if (!success) return refused(toProblem(wrongParts(strict, given), { traceId: '' }))
          const told = await run(api, data, masking)
          const result = isMasked === true ? told : await masking.value(told)
          return { content: [{ type: 'text' as const, text: JSON.stringify(result, null, 1) }] }
        } catch (error) {
          if (!(error instanceof CreelError)) throw error
          return refused(error, renamed)
        }
      })
    },
  }
}

const refused = (...given: Parameters<typeof refusalText>) => ({
  isError: true,
  content: [{ type: 'text' as const, text: refusalText(...given) }],
})

/** Names all that is wrong: missing and unknown arguments, and those that a route would refuse. */
function wrongParts({ shape }: z.ZodObject, given: unknown) {
  const members = Object.entries(shape).map(([name, open]) => [name, exact.get(open)?.schema ?? open])
  const tooWide = widthIssues(given)
  if (tooWide.length > 0) return validationFailed(tooWide)
  return validationFailed(issuesOf(z.strictObject(Object.fromEntries(members)).safeParse(given).error, given))
}
