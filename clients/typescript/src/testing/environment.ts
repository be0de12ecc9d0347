import type { CreelOptions } from '../transport.ts'

/**
 * The service that the variables CREEL_URL and CREEL_KEY name.
 *
 * @throws Error when one is missing
 */
export function optionsOfEnvironment(): CreelOptions {
  const url = variable('CREEL_URL')
  const key = variable('CREEL_KEY')
  if (url === undefined || key === undefined) {
    throw new Error('Set CREEL_URL and CREEL_KEY, or say with `creel` which service the endpoint is made in.')
  }
  return { url, key }
}

/** Browsers have no environment. */
function variable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.[name]
}
