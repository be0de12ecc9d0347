import { z } from 'zod'
import type { Answer } from './client.ts'

const Items = z.looseObject({
  errors: z.array(
    z.object({ pointer: z.string().nullable(), parameter: z.string().nullable(), code: z.string() }),
  ),
})

/** The items of a `validation_failed`, in order: `#/name too_long`, `?page type`. Throws for any other answer. */
export function wrongParts(answer: Answer): readonly string[] {
  if (answer.status !== 400) throw new Error(`The call answered ${answer.status}: ${answer.text}`)
  return Items.parse(answer.body).errors.map(
    ({ pointer, parameter, code }) => `${pointer ?? `?${parameter}`} ${code}`,
  )
}
