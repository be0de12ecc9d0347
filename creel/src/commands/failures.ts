import { DomainError } from '@creel/core'
import { detailOf } from '@creel/core/operator'
import { EXIT } from '@creel/terminal/exitCodes'
import { printHint } from '@creel/terminal/output/print'
import { SafeText } from '@creel/terminal/output/safeText'
import { TRPCError } from '@trpc/server'
import { z } from 'zod'
import { ConfigError } from '../config/index.ts'
import { StartupError } from '../startupError.ts'

/** Hint for the user after a refusal, by its code. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  not_found: 'Run `creel workspace list`, `creel key list` or `creel contact list` to see what exists.',
  limit_reached:
    'Revoke an unused key with `creel key revoke`, or raise the plan with `creel workspace set-plan`.',
  feature_not_in_plan: 'Raise the plan with `creel workspace set-plan`.',
}

/**
 * Prints an error to stderr, for the user of the command. Only unexpected errors are printed with a stack.
 *
 * @returns the exit code of the program
 */
export function reportFailure(thrown: unknown): number {
  if (thrown instanceof ConfigError) {
    printHint('The configuration has errors:', ...thrown.mistakes.map((mistake) => `  ${mistake}`))
    printHint('`creel help config` lists the variables.')
    return EXIT.usage
  }
  if (thrown instanceof StartupError) {
    printHint(...SafeText.lines(`creel: ${thrown.message}`))
    return EXIT.failed
  }
  const error = thrown instanceof TRPCError && thrown.cause !== undefined ? thrown.cause : thrown
  if (error instanceof z.ZodError) {
    for (const issue of error.issues) printHint(`creel: ${detailOf(issue, `--${issue.path.join('.')}`)}`)
    return EXIT.usage
  }
  if (error instanceof DomainError) {
    printHint(`creel: ${error.detail}`)
    const nextStep = NEXT_STEPS[error.code]
    if (nextStep !== undefined) printHint(nextStep)
    return EXIT.failed
  }
  printHint(
    'creel: unexpected error',
    ...SafeText.lines(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  )
  return EXIT.failed
}
