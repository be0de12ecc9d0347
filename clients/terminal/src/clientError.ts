import { EXIT } from './exitCodes.ts'

/** A failed command. The message says what is wrong, `nextStep` what to do about it. */
export class ClientError extends Error {
  override readonly name = 'ClientError'

  /**
   * @param message one sentence
   * @param nextStep one or more lines; none if the message suffices
   * @param exitCode 1 unless the command line itself is wrong
   */
  constructor(
    message: string,
    readonly nextStep: readonly string[] = [],
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message)
  }
}

/** Error for an invalid value on the command line. Nothing was done. */
export function usageError(message: string, ...nextStep: string[]): ClientError {
  return new ClientError(message, nextStep, EXIT.usage)
}

/** Lines for stderr about a failed command; undefined for any other error. */
export function clientFailure(error: unknown): { lines: readonly string[]; exitCode: number } | undefined {
  if (!(error instanceof ClientError)) return undefined
  return { lines: [`creel: ${error.message}`, ...error.nextStep], exitCode: error.exitCode }
}
