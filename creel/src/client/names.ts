import type { ProgramParts } from '../commands/programParts.ts'
import type { ApiClient } from './api/apiClient.ts'
import { allEndpoints } from './api/endpointChoice.ts'
import { SampleList } from './api/shapes.ts'
import { openApi } from './session.ts'

/** Who types waits no longer than this. */
const WAIT_MILLISECONDS = 2_000

/** A longer name is not completed. */
const WORD_CHARACTERS_MAX = 200

/** A word that shells take as it is, and that is no option: completion puts it on the command line unquoted. */
const PLAIN_WORD = new RegExp(`^\\w[\\w.@/+:-]{0,${WORD_CHARACTERS_MAX - 1}}$`)

/** What was typed before the name. */
interface Before {
  readonly provider: string | undefined
  readonly url: string | undefined
  readonly key: string | undefined
}

/** Names that the service knows, by what the argument or option is called. */
const KINDS: Readonly<Record<string, (api: ApiClient, before: Before) => Promise<readonly string[]>>> = {
  // A name with a blank, or with what shells look at, is completed by the beginning of its id.
  endpoint: async (api) =>
    (await allEndpoints(api)).map(({ id, name }) => (PLAIN_WORD.test(name) ? name : id.slice(0, 8))),
  provider: async (api) => (await samplesOf(api)).map(({ provider }) => provider),
  event: async (api, { provider }) =>
    (await samplesOf(api))
      .filter((samples) => samples.provider === provider)
      .flatMap(({ events }) => events.map(({ event }) => event)),
}

const samplesOf = async (api: ApiClient) => (await api.get('/api/v1/samples', SampleList)).items

/**
 * Names for completion, each a word without a meaning to shells. None where the kind has none, where anything is wrong, or where the service takes longer than 2 s: a
 * shell that completes must not be told of errors.
 *
 * @param kind what the argument or option is called: `endpoint`, `provider` or `event`
 */
export async function namesOf(kind: string, before: Before, parts: ProgramParts): Promise<readonly string[]> {
  const ask = KINDS[kind]
  if (ask === undefined) return []
  const { url, key } = before
  const options = { ...(url === undefined ? {} : { url }), ...(key === undefined ? {} : { key }) }
  const late = setTimeout(() => process.exit(0), WAIT_MILLISECONDS)
  const names = await openApi(options, parts)
    .then((api) => ask(api, before))
    .catch(() => [])
  clearTimeout(late)
  return names.filter((name) => PLAIN_WORD.test(name))
}
