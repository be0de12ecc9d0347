import type { DeliveryFacts } from '../../core/src/engine/conditions/index.ts'
import type { EvaluatedRequest } from '../../core/src/engine/message/index.ts'
import { type RunInput, type RunResult, runRules } from '../../core/src/engine/rules/execution/run.ts'
import { decodeRule } from '../../core/src/engine/rules/language/decode.ts'
import type { Rule } from '../../core/src/engine/rules/language/rule.ts'

/** Facts with which tests and the benchmark run rules; not part of the service. */
export const FACTS: DeliveryFacts = {
  'request.id': 90117,
  'request.url': 'https://in.example.test/hook/0f4a',
  'request.receivedAt': '2026-11-21T09:15:00.123Z',
  'endpoint.id': '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
  'endpoint.name': 'stripe-ci',
  'action.id': '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10',
  'action.name': 'Billing',
}

export interface Sample {
  readonly body?: string | Uint8Array
  readonly contentType?: string | null
  readonly headers?: readonly (readonly [string, string])[]
  readonly query?: string
}

export function captured({
  body = '',
  contentType = 'application/json',
  headers = [],
  query,
}: Sample): EvaluatedRequest {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return {
    endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
    receivedAt: new Date('2026-11-21T09:15:00.123Z'),
    method: 'POST',
    path: '/eu',
    queryString: query ?? null,
    headers: contentType === null ? headers : [['Content-Type', contentType], ...headers],
    contentType,
    body: bytes,
    sizeBytes: bytes.length,
    bodyTruncated: false,
    ip: '203.0.113.7',
    label: 'invoice.paid',
    eventId: null,
    verification: null,
  }
}

/** A rule with these steps. Throws if they are invalid. */
export function ruleOf(steps: readonly unknown[], when?: unknown): Rule {
  const decoded = decodeRule({ version: 1, name: 'Test', steps, ...(when === undefined ? {} : { when }) })
  if ('rule' in decoded) return decoded.rule
  throw new Error(decoded.issues.map(({ path, detail }) => `/${path.join('/')}: ${detail}`).join('\n'))
}

export function runOn(sample: Sample, rules: readonly Rule[], over: Partial<RunInput> = {}): RunResult {
  return runRules(
    rules.map((rule, index) => ({ key: `rule-${index}`, rule })),
    {
      request: captured(sample),
      facts: FACTS,
      now: new Date('2026-11-21T09:15:01.500Z'),
      secret: () => Buffer.from('a signing secret'),
      // Time does not pass, so that a busy machine cannot make a rule too slow.
      stopwatch: { worked: () => 0 },
      ...over,
    },
  )
}

/** The body after one rule with these steps, or `fault: <code>`. */
export function bodyAfter(
  body: string,
  steps: readonly unknown[],
  contentType: string | null = 'application/json',
): string {
  return textOf(runOn({ body, contentType }, [ruleOf(steps)]))
}

/** The headers after one rule with these steps. */
export function headersAfter(
  headers: readonly (readonly [string, string])[],
  steps: readonly unknown[],
  body = '{"a":1}',
) {
  const result = runOn({ headers, body }, [ruleOf(steps)])
  return result.output?.headers.filter(([name]) => name !== 'Content-Type') ?? textOf(result)
}

export function textOf(result: RunResult): string {
  if (result.output !== null) return Buffer.from(result.output.body).toString()
  return `fault: ${result.rules.find((rule) => rule.fault !== null)?.fault?.code}`
}
