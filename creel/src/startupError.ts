/**
 * The program cannot start, for a reason that an operator can fix. The message says what is wrong and what to do about
 * it, because no stack is printed.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** The message of an error, or its text if it is of another kind. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
