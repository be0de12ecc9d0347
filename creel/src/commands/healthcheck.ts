import type { Command } from 'commander'
import { decodeConfig } from '../config/index.ts'
import { EXIT } from '../exitCodes.ts'
import { hostInUrl } from '../service/index.ts'
import { printHint, printText } from './print.ts'

const TIMEOUT_SECONDS = 5

/** `creel healthcheck` */
export function addHealthcheckCommand(program: Command): void {
  program
    .command('healthcheck')
    .description('ask the service on this machine whether it is ready; ends with 1 when it is not')
    .option('--url <url>', 'what to ask; default /readyz on CREEL_HOST and CREEL_PORT')
    .action(async ({ url }: { url?: string }) => {
      const { config } = decodeConfig(process.env)
      const target = url ?? `http://${hostInUrl(config.CREEL_HOST)}:${config.CREEL_PORT}/readyz`
      const answer = await fetch(target, { signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000) }).then(
        (response) => (response.ok ? undefined : `it answers ${response.status}`),
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      )
      if (answer === undefined) return printText('ready')
      printHint(`${target} is not ready: ${answer}`)
      process.exitCode = EXIT.failed
    })
}
