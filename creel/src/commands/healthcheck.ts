import { EXIT } from '@creel/terminal/exitCodes'
import { printHint, printText } from '@creel/terminal/output/print'
import { type Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { decodeConfig } from '../config/index.ts'
import { environmentBesideService } from '../dataFolder.ts'
import { localAddress } from '../serviceFile.ts'

const TIMEOUT_SECONDS = 5

const Readiness = z.object({ checks: z.record(z.string(), z.string()) })

export function addHealthcheckCommand(command: Command): void {
  command
    .option(
      '--url <url>',
      'URL to check; default /readyz of the running service, else on CREEL_HOST and CREEL_PORT',
      httpUrl,
    )
    .action(async ({ url }: { url?: string }) => {
      const target = url ?? `${await addressOf()}/readyz`
      const answer = await fetch(target, { signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000) }).then(
        (response) => (response.ok ? undefined : refusal(response)),
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

/** The service of this folder or user; another one by the variables. */
async function addressOf(): Promise<string> {
  const { config } = decodeConfig(await environmentBesideService(process.env))
  return await localAddress(config)
}

/** The status, and the checks that fail. Their causes are in the log of the service only, because anyone may ask. */
async function refusal(response: Response): Promise<string> {
  const said = Readiness.safeParse(await response.json().catch(() => null))
  const failed = Object.entries(said.data?.checks ?? {}).filter(([, state]) => state !== 'ok')
  const checks = failed.map(([name, state]) => `${name} ${state}`).join(', ')
  return `the status is ${response.status}${checks === '' ? '' : ` (${checks}; the log of the service says why)`}`
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
