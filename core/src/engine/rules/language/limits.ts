/** Limits of one rule document. Characters are code points, as in JSON Schema. */
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

/** Limits of one run: results and time. */
export const RUN_LIMITS = {
  /** Result of one function or template, in UTF-8 bytes. */
  textBytes: 1024 * 1024,
  outputBytes: 10 * 1024 * 1024,
  /** All writes of the steps of a set. Copies of copies could outgrow memory before the result is checked. */
  writtenBytes: 32 * 1024 * 1024,
  /** Time of the steps of one rule. Reading and writing the body is not counted: its size is bounded already. */
  milliseconds: 100,
  /** Time of the steps of all rules of a set: the longest that other work of the process waits for them. */
  setMilliseconds: 250,
  listParts: 1000,
  padLength: 200,
} as const
