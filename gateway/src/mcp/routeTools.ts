import { ROUTES, type Route } from '@creel/core'
import { z } from 'zod'
import { inputProperties } from '../openapi/index.ts'
import type { McpApi, RouteInput } from './mcpApi.ts'
import { exact, type Tool, tool } from './tool.ts'

/** The tools that routes declare, in the order of the routes. */
export function routeTools(routes: readonly Route[] = ROUTES): Tool[] {
  return routes.flatMap((route) => (route.tool === undefined ? [] : [routeTool(route, route.tool)]))
}

function routeTool(route: Route, declared: NonNullable<Route['tool']>): Tool {
  const { name, title, description, effect, quotesRequest, renamed = {}, defaults = {} } = declared
  const taken = new Map(
    Object.entries(argumentsOf(route)).map(([member, schema]) => {
      const argument = renamed[member] ?? member
      return [argument, { member, schema }]
    }),
  )
  return tool({
    name,
    title,
    description,
    effect,
    renamed,
    input: z.object(Object.fromEntries([...taken].map(([argument, { schema }]) => [argument, schema]))),
    isMasked: true,
    run: async (api, given, masking) => {
      const members = [...taken].map(([argument, { member }]) => [member, given[argument]] as const)
      const input = { ...defaults, ...Object.fromEntries(members.filter(([, value]) => value !== undefined)) }
      const { [route.body ?? '']: whole, ...beside } = input
      const answer = await api.call(route.name, { ...beside, ...Object(whole) })
      if (quotesRequest !== true) return await masking.value(answer)
      return await masking.quoting(answer, () => requestOf(api, input))
    },
  })
}

/** The request that a tool's input names. A key for one endpoint need not name the endpoint. */
async function requestOf(api: McpApi, { endpointId, requestId }: RouteInput) {
  if (requestId === undefined) return null
  const [only] = endpointId === undefined ? (await api.call('endpoints.list', { pageSize: 1 })).items : []
  return await api.call('requests.get', { endpointId: endpointId ?? only?.id, requestId })
}

/** Arguments for all members of a route's input, or for those of its tool. */
export function argumentsOf(route: Route): Record<string, z.ZodType> {
  const members = route.tool?.members ?? Object.keys(inputProperties(route).properties)
  return Object.fromEntries(members.map((member) => [member, argumentOf(route, member)]))
}

/**
 * Argument for a member of a route's input, with the schema that OpenAPI has. It checks nothing: the route does, and its refusal
 * names what is wrong.
 */
export function argumentOf(route: Route, member: string): z.ZodType {
  const { properties, required } = inputProperties(route)
  const byDefault = route.tool?.defaults?.[member]
  const open = z
    .unknown()
    .meta({ ...properties[member], ...(byDefault === undefined ? {} : { default: byDefault }) })
  const argument = required.includes(member) ? open : open.optional()
  return argument.register(exact, { schema: route.input.shape[member] })
}
