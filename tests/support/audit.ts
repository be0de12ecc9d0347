import type { Route } from '@creel/core'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import { z } from 'zod'
import type { Answer, Client } from './client.ts'

const Description = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        responses: z.record(
          z.string(),
          z.looseObject({
            content: z
              .record(z.string(), z.looseObject({ examples: z.record(z.string(), z.unknown()).optional() }))
              .optional(),
          }),
        ),
      }),
    ),
  ),
})

const Problem = z.strictObject({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.int(),
  detail: z.string().min(1),
  code: z.string(),
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  errors: z
    .array(
      z.strictObject({
        pointer: z.string().startsWith('#').nullable(),
        parameter: z.string().nullable(),
        code: z.string(),
        detail: z.string().min(1),
      }),
    )
    .min(1)
    .max(50)
    .optional(),
})

/** Checks answers against the served description: status, code, headers and schema. */
export interface Audit {
  /** Faults of the answer, a line each; empty when it matches the description. */
  faultsOf(route: Pick<Route, 'method' | 'path'>, answer: Answer): readonly string[]
}

const BODY_POINTER = /^#(\/[^/]*)*$/

/** Reads the description from the service itself. */
export async function createAudit(client: Client): Promise<Audit> {
  const served: unknown = (await client.get('/openapi/v1.json')).body
  const description = Description.parse(served)
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(Object(served), 'creel')
  const validators = new Map<string, ValidateFunction>()
  const validator = (pointer: string): ValidateFunction => {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `creel#${pointer}` })
    validators.set(pointer, known)
    return known
  }

  return {
    faultsOf(route, answer) {
      const at = `${route.method} ${route.path} → ${answer.status}`
      const method = route.method.toLowerCase()
      const response = description.paths[route.path]?.[method]?.responses[String(answer.status)]
      if (response === undefined) return [`${at}: not a declared status: ${answer.text.slice(0, 200)}`]
      const faults = [...headerFaults(answer)]
      const mediaType = answer.headers.get('content-type') ?? ''
      if (answer.status >= 400) {
        const problem = Problem.safeParse(answer.body)
        if (!problem.success) faults.push(`no problem: ${answer.text.slice(0, 200)}`)
        else {
          const { code, status, errors } = problem.data
          if (mediaType !== 'application/problem+json') faults.push(`Content-Type is ${mediaType}`)
          if (status !== answer.status) faults.push(`the body says ${status}`)
          if (!(code in (response.content?.['application/problem+json']?.examples ?? {})))
            faults.push(`${code} is not declared`)
          if ((code === 'validation_failed') !== (errors !== undefined))
            faults.push(`${code} with or without errors`)
          for (const { pointer, parameter } of errors ?? []) {
            if ((pointer === null) === (parameter === null))
              faults.push('an item is of the body or of the query')
            if (pointer !== null && !BODY_POINTER.test(pointer)) faults.push(`${pointer} is no pointer`)
          }
          if (status === 429 && !/^[1-9]\d?$/.test(answer.headers.get('retry-after') ?? ''))
            faults.push('no Retry-After')
        }
      } else if (answer.status === 204 || answer.status === 304) {
        if (answer.text !== '') faults.push('has a body')
      } else {
        const declared = Object.keys(response.content ?? {})
        if (!declared.includes(mediaType)) faults.push(`Content-Type is ${mediaType}`)
        else {
          const places = [
            'paths',
            route.path,
            method,
            'responses',
            String(answer.status),
            'content',
            mediaType,
            'schema',
          ]
          const validate = validator(
            places
              .map((place) => `/${place.replaceAll('~', '~0').replaceAll('/', '~1')}`)
              .join('')
              .replaceAll('{', '%7B')
              .replaceAll('}', '%7D'),
          )
          if (!validate(answer.body ?? answer.text)) faults.push(ajv.errorsText(validate.errors))
        }
      }
      return faults.map((fault) => `${at}: ${fault}`)
    },
  }
}

function headerFaults({ headers }: Answer): readonly string[] {
  const faults: string[] = []
  if (headers.has('set-cookie')) faults.push('sets a cookie')
  if (headers.has('access-control-allow-origin')) faults.push('opens itself to other origins')
  if (!headers.has('cache-control')) faults.push('says nothing of caching')
  return faults
}
