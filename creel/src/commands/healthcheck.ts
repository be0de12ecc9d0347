import { EXIT } from '@creel/terminal/exitCodes'
import { printHint, printText } from '@creel/terminal/output/print'
import { type Command, InvalidArgumentError } from 'commander'
import { decodeConfig } from '../config/index.ts'
import { hostInUrl } from '../hostInUrl.ts'

const TIMEOUT_SECONDS = 5

export function addHealthcheckCommand(command: Command): void {
  command
    .option('--url <url>', 'URL to check; default /readyz on CREEL_HOST and CREEL_PORT', httpUrl)
    .action(async ({ url }: { url?: string }) => {
      const { config } = decodeConfig(process.env)
      const target = url ?? `http://${hostInUrl(config.CREEL_HOST)}:${config.CREEL_PORT}/readyz`
      const answer = await fetch(target, { signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000) }).then(
        (response) => (response.ok ? undefined : `the status is ${response.status}`),
        (error: unknown) => silence(error),
      )
      if (answer === undefined) return printText('ready')
      printHint(`creel: ${target} is not ready: ${answer}.`)
      if (url === undefined) {
        printHint(
          'Check that `creel serve` runs with the CREEL_HOST and CREEL_PORT that `creel config` shows.',
        )
      }
      process.exitCode = EXIT.failed
    })
}

/** Why there was no answer, as text. */
function silence(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_SECONDS} s`
  return 'code' in error && /ECONNREFUSED|ConnectionRefused/.test(String(error.code))
    ? 'nothing listens there'
    : error.message
}

function httpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('Give an http or https URL.')
  }
  return text
}
