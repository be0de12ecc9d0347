import type { ApiClient } from './api/apiClient.ts'
import { operationsOf } from './api/description.ts'
import { allEndpoints } from './api/endpointChoice.ts'
import { openApi } from './session.ts'
import type { TerminalTools } from './tools.ts'

/** Longest wait of a completion. */
const WAIT_MILLISECONDS = 2_000

/** Longest name that is completed. */
const WORD_CHARACTERS_MAX = 200

/** A word that needs no quoting in shells and is not an option, so that completion can insert it unquoted. */
const PLAIN_WORD = new RegExp(`^\\w[\\w.@/+:-]{0,${WORD_CHARACTERS_MAX - 1}}$`)

interface Before {
  readonly provider: string | undefined
  readonly url: string | undefined
  readonly key: string | undefined
}

/** Sources of names, by the argument's or option's name. */
const KINDS: Readonly<Record<string, (api: ApiClient, before: Before) => Promise<readonly string[]>>> = {
  // A name that needs quoting is completed by the beginning of the endpoint's id.
  endpoint: async (api) =>
    (await allEndpoints(api)).map(({ id, name }) => (PLAIN_WORD.test(name) ? name : id.slice(0, 8))),
  operation: async (api) => (await operationsOf(api)).map(({ name }) => name),
  provider: async (api) => (await samplesOf(api)).map(({ provider }) => provider),
  event: async (api, { provider }) =>
    (await samplesOf(api))
      .filter((samples) => samples.provider === provider)
      .flatMap(({ events }) => events.map(({ event }) => event)),
}

const samplesOf = async ({ calls }: ApiClient) => (await calls.samples.list({})).items

/**
 * Names for completion, each a word that needs no quoting. Empty for an unknown kind, after any error, and when the
 * service takes longer than 2 s, because completion must not print errors.
 *
 * @param kind name of the argument or option: `endpoint`, `operation`, `provider` or `event`
 */
export async function namesOf(
  kind: string,
  before: Before,
  tools: TerminalTools,
): Promise<readonly string[]> {
  const ask = KINDS[kind]
  if (ask === undefined) return []
  const { url, key } = before
  const options = { ...(url === undefined ? {} : { url }), ...(key === undefined ? {} : { key }) }
  const late = setTimeout(() => process.exit(0), WAIT_MILLISECONDS)
  const names = await openApi(options, tools)
    .then((api) => ask(api, before))
    .catch(() => [])
  clearTimeout(late)
  return names.filter((name) => PLAIN_WORD.test(name))
}
