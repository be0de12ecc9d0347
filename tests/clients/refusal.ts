import { CreelError } from 'creel-client'

/**
 * Resolves to the error of a refused call.
 *
 * @throws Error when the call succeeds, or fails with another error
 */
export async function refusalOf(call: Promise<unknown>): Promise<CreelError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof CreelError)) throw new Error(`The call was not refused: ${String(error)}`)
  return error
}
