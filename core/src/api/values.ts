import { z } from 'zod'
import { millisecondsOf, parseInstant } from '../engine/conditions/index.ts'

/** A member that may be left out; `null` means the same. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined)
}

/** A timestamp in answers: ISO 8601, milliseconds, `Z`. */
export const Timestamp = z
  .date()
  .transform((date) => date.toISOString())
  .pipe(z.iso.datetime({ precision: 3 }))

/** An object in answers whose names strangers chose, `__proto__` among them: zod's own record leaves that one out. */
export function byName<Value extends z.ZodType>(value: Value) {
  const record = z.record(z.string(), value)
  const { $schema: _dialect, ...described } = z.toJSONSchema(record)
  return z.custom<z.output<typeof record>>((input) => record.safeParse(input).success).meta(described)
}

/** A moment in a query: RFC 3339, a date alone (midnight UTC), or minutes without seconds; as a Date of whole ms, rounded up. */
export const InstantInput = z
  .string()
  .max(64)
  .transform((text, context) => {
    const instant = parseInstant(text)
    const date = instant === undefined ? undefined : new Date(millisecondsOf(instant))
    // Before the first year begins a period that would end in it; after the last no answer could show it.
    if (date !== undefined && date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999) return date
    context.addIssue({
      code: 'custom',
      params: { code: 'bad_format' },
      message:
        'A timestamp of the years 1 to 9999 is needed, like 2026-11-21T09:15:00Z, 2026-11-21T09:15Z or 2026-11-21.',
    })
    return z.NEVER
  })

/** Marks an input member that is known only to be refused; the description of the API leaves it out. */
export const REFUSED = 'x-refused'

/**
 * An int64 that ids are compared with: 0 to 2^63-1. Our ids stay below 2^53, so a greater one stands for the greatest.
 * As JSON numbers go, 2^63 cannot be told from 2^63-1.
 */
export const Int64Filter = z
  .number()
  .min(0)
  .refine(Number.isInteger, { params: { code: 'type' }, message: 'An integer is needed.', abort: true })
  .refine((id) => id <= 2 ** 63, { params: { code: 'out_of_range' }, message: 'At most 2^63-1 is an int64.' })
  .meta({ type: 'integer', format: 'int64' })
  .transform((id) => Math.min(id, Number.MAX_SAFE_INTEGER))

/** An int64 id: a JSON number below 2^53. */
export const Int64 = z.int().min(0)
