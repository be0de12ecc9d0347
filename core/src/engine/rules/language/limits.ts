/** What one rule document may hold. Characters are code points, as in JSON Schema. */
export const DOCUMENT_LIMITS = {
  bytes: 32 * 1024,
  nameLength: 100,
  steps: 50,
  paths: 50,
  withLength: 200,
  valueBytes: 8 * 1024,
  args: 20,
  /** Nested calls; the outer call has depth 1. */
  callDepth: 10,
} as const

/** What one run may produce and take. */
export const RUN_LIMITS = {
  /** Result of one function or template, in UTF-8 bytes. */
  textBytes: 1024 * 1024,
  outputBytes: 10 * 1024 * 1024,
  /** What all steps of a set may write together: copies of copies must not outgrow memory before the end is looked at. */
  writtenBytes: 32 * 1024 * 1024,
  /** For the steps of one rule. Reading and writing the body is not counted: its size is bounded already. */
  milliseconds: 100,
  /** For the steps of all rules of a set together: so long at most it keeps other work of the process waiting. */
  setMilliseconds: 250,
  listParts: 1000,
  padLength: 200,
} as const
