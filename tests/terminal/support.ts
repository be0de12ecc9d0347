import type { Client } from '../support/client.ts'
import { type CommandResult, runCreel, temporaryFolder } from '../support/process.ts'

/** An empty home folder for the commands of a test, without the user's own configuration. */
export async function emptyHome(): Promise<string> {
  return await temporaryFolder()
}

/** Environment with the service and the key of a client, for commands. */
export function environmentOf(client: Client, home: string): Record<string, string> {
  return { CREEL_URL: client.baseUrl, CREEL_KEY: client.key, HOME: home }
}

/** Runs a command that must succeed; returns its stdout. */
export async function succeeds(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { exitCode, stdout, stderr } = await runCreel(words, { env })
  if (exitCode !== 0) throw new Error(`creel ${words.join(' ')} ended with ${exitCode}: ${stderr}`)
  return stdout
}

/** Runs a command that must fail, without a stack; returns its stderr, and its exit code. */
export async function fails(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Pick<CommandResult, 'exitCode' | 'stdout' | 'stderr'>> {
  const { exitCode, stdout, stderr } = await runCreel(words, { env })
  if (exitCode === 0 || /^ {4}at /m.test(stderr))
    throw new Error(`creel ${words.join(' ')}: ${exitCode} ${stderr}`)
  return { exitCode, stdout, stderr }
}
