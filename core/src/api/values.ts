import { z } from 'zod'
import { millisecondsOf, parseInstant } from '../engine/conditions/index.ts'

/** An optional member; `null` counts as absent. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined)
}

/** A timestamp in answers: ISO 8601, milliseconds, `Z`. */
export const Timestamp = z
  .date()
  .transform((date) => date.toISOString())
  .pipe(z.iso.datetime({ precision: 3 }))

/** An object in answers with names from senders, including `__proto__`, which zod's own record omits. */
export function byName<Value extends z.ZodType>(value: Value) {
  const record = z.record(z.string(), value)
  const { $schema: _dialect, ...described } = z.toJSONSchema(record)
  return z.custom<z.output<typeof record>>((input) => record.safeParse(input).success).meta(described)
}

/** An object in input with names that its sender chooses, but not `__proto__`, which zod's own record omits silently. */
export function namedInput<Value extends z.ZodType>(value: Value) {
  const record = z.record(z.string(), value)
  const { $schema: _dialect, ...described } = z.toJSONSchema(record, { io: 'input' })
  return z
    .custom<z.input<typeof record>>()
    .superRefine((input, context) => {
      if (typeof input !== 'object' || input === null || !Object.hasOwn(input, '__proto__')) return
      context.addIssue({
        code: 'custom',
        path: ['__proto__'],
        params: { code: 'not_allowed' },
        message: 'The name __proto__ is not allowed.',
      })
    })
    .pipe(record)
    .meta(described)
}

/** Whether the year in UTC is one that both a stored timestamp and an answer can express. */
export const isStorableTime = (date: Date): boolean =>
  date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999

/**
 * A moment in a query: RFC 3339, a date alone (midnight UTC), or without seconds; as a Date of whole ms, rounded up.
 */
export const InstantInput = z
  .string()
  .max(64)
  .transform((text, context) => {
    const instant = parseInstant(text)
    const date = instant === undefined ? undefined : new Date(millisecondsOf(instant))
    if (date !== undefined && isStorableTime(date)) return date
    context.addIssue({
      code: 'custom',
      params: { code: 'bad_format' },
      message:
        'The value must be a timestamp of the years 1 to 9999, like 2026-11-21T09:15:00Z, 2026-11-21T09:15Z or 2026-11-21.',
    })
    return z.NEVER
  })

/** Marks an input member that exists only to be refused; the API's description omits it. */
export const REFUSED = 'x-refused'

/**
 * An int64 for comparisons with ids: 0 to 2^63-1. Our ids are below 2^53, so a greater value is replaced by the
 * greatest. In JSON numbers, 2^63 and 2^63-1 are the same.
 */
export const Int64Filter = z
  .number()
  .min(0)
  .refine(Number.isInteger, {
    params: { code: 'type' },
    message: 'The value must be an integer.',
    abort: true,
  })
  .refine((id) => id <= 2 ** 63, {
    params: { code: 'out_of_range' },
    message: 'The value must be at most 2^63-1.',
  })
  .meta({ type: 'integer', format: 'int64' })
  .transform((id) => Math.min(id, Number.MAX_SAFE_INTEGER))

/** Id of an endpoint, in a path. An id of another form names no endpoint, so it is not refused here. */
export const endpointId = z.string().meta({ format: 'uuid', description: 'Id of the endpoint' })

/** An int64 id: a JSON number below 2^53. */
export const Int64 = z.int().min(0)

/** Parses an int64 id. Null when it is out of range, or in another spelling (`01`). */
export function parseInt64(text: string | undefined): number | null {
  if (text === undefined || !/^(?:0|[1-9]\d{0,15})$/.test(text)) return null
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : null
}
