import { z } from 'zod'
import type { Answer, TestEndpoint } from '../../support/client.ts'

export const Rule = z.strictObject({
  id: z.string(),
  position: z.int(),
  name: z.string(),
  enabled: z.boolean(),
  disabledReason: z.string().nullable(),
  holdsDeliveries: z.boolean(),
  condition: z.string(),
  rule: z.unknown(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export const RuleSet = z.strictObject({
  endpointId: z.string(),
  destinationId: z.string().nullable(),
  destinationUrl: z.string().nullable(),
  rules: z.array(Rule),
  maxRules: z.int(),
  featureInPlan: z.boolean(),
  schemaUrl: z.string(),
})

const Problem = z.looseObject({
  code: z.string(),
  errors: z
    .array(
      z.looseObject({ pointer: z.string().nullable(), parameter: z.string().nullable(), code: z.string() }),
    )
    .optional(),
})

/** A rule document with these steps. */
export function documentOf(steps: readonly unknown[], more: object = {}) {
  return { version: 1, name: 'Slim', steps, ...more }
}

export const REMOVE = documentOf([{ op: 'remove', paths: ['body.a'] }])

/** Adds a forward action to nowhere, or to `url`. */
export async function addForward(endpoint: TestEndpoint, more: object = {}): Promise<string> {
  const made = endpoint.client.post(endpoint.at('/actions'), {
    kind: 'forward',
    url: 'http://127.0.0.1:9/hooks',
    ...more,
  })
  return (await endpoint.client.expect(made, z.looseObject({ id: z.string() }))).id
}

export function addRule(endpoint: TestEndpoint, document: unknown = REMOVE): Promise<z.output<typeof Rule>> {
  return endpoint.client.expect(endpoint.client.post(endpoint.at('/transformations'), document), Rule)
}

export function rulesOf(endpoint: TestEndpoint, query = ''): Promise<z.output<typeof RuleSet>> {
  return endpoint.client.expect(endpoint.client.get(endpoint.at(`/transformations${query}`)), RuleSet)
}

/** `code`, then `pointer code` of every item. */
export function problemOf({ body }: Answer): string[] {
  const { code, errors = [] } = Problem.parse(body)
  return [code, ...errors.map((item) => `${item.pointer ?? `?${item.parameter}`} ${item.code}`)]
}
