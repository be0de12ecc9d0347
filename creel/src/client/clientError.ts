import { EXIT } from '../exitCodes.ts'

/** A developer's command cannot go on. The message says what is wrong, `nextStep` what to do about it. */
export class ClientError extends Error {
  override readonly name = 'ClientError'

  /**
   * @param message one sentence
   * @param nextStep one or more lines; none where the message says it all
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

/** The command line holds a value that means nothing. Nothing was done. */
export function usageError(message: string, ...nextStep: string[]): ClientError {
  return new ClientError(message, nextStep, EXIT.usage)
}

/** What to print on stderr about a failure of a developer's command; undefined for any other failure. */
export function clientFailure(error: unknown): { lines: readonly string[]; exitCode: number } | undefined {
  if (!(error instanceof ClientError)) return undefined
  return { lines: [`creel: ${error.message}`, ...error.nextStep], exitCode: error.exitCode }
}
