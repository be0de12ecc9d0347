import type { ToolEffect } from '@creel/core'
import type { McpServer } from '@modelcontextprotocol/server'
import { CreelError } from 'creel-client'
import type { z } from 'zod'
import type { Masking } from './masked.ts'
import { type McpApi, refusalText } from './mcpApi.ts'

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
  /** Whether `run` masks its result itself. */
  readonly isMasked?: true
  readonly run: (api: McpApi, input: z.output<z.ZodObject<Shape>>, masking: Masking) => Promise<unknown>
}): Tool {
  const { name, title, description, effect, input, isMasked, run } = declaration
  const annotations = {
    title,
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'sends',
    idempotentHint: effect === 'reads',
    openWorldHint: effect === 'sends',
  }
  return {
    name,
    effect,
    register(server, { api, masking }) {
      server.registerTool(
        name,
        { title, description, inputSchema: input, annotations },
        async (given: unknown) => {
          try {
            const told = await run(api, input.parse(given), masking)
            const result = isMasked === true ? told : await masking.value(told)
            return { content: [{ type: 'text' as const, text: JSON.stringify(result, null, 1) }] }
          } catch (error) {
            if (!(error instanceof CreelError)) throw error
            return { isError: true, content: [{ type: 'text' as const, text: refusalText(error) }] }
          }
        },
      )
    },
  }
}
