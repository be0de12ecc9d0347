/**
 * The program cannot start, for a reason that an operator can mend. The message says what is wrong and what to
 * do about it, because it is all that they see: no stack is printed.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}
