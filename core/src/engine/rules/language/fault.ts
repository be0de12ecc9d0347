/** Codes of the faults of rules. The list is closed: receivers of `error` may branch on it. */
export const FAULT_CODES = [
  'type',
  'not_structured',
  'not_found_index',
  'divide_by_zero',
  'bad_number',
  'bad_json',
  'bad_encoding',
  'bad_date',
  'bad_header',
  'too_large',
  'too_slow',
  'no_secret',
] as const

export type FaultCode = (typeof FAULT_CODES)[number]

/** The only error that running a rule throws. It never leaves the engine, which returns it as data. */
export class Fault extends Error {
  override readonly name = 'Fault'

  constructor(
    readonly code: FaultCode,
    /** One sentence; never holds a secret. */
    readonly detail: string,
  ) {
    super(`${code}: ${detail}`)
  }
}
