import type { Format } from './format.ts'
import { HAR } from './har.ts'
import { FETCH, K6, VITEST } from './javascript.ts'
import { PYTHON } from './python.ts'
import { HTTP } from './raw.ts'
import { CURL, HTTPIE } from './shell.ts'

/** Every format of a single request, by the name that `?format=` takes. */
export const FORMATS = {
  curl: CURL,
  fetch: FETCH,
  httpie: HTTPIE,
  python: PYTHON,
  har: HAR,
  http: HTTP,
  k6: K6,
  vitest: VITEST,
} as const satisfies Readonly<Record<string, Format>>

/** A value of `?format=`: a key of {@link FORMATS}. */
export type FormatName = keyof typeof FORMATS

/** Every name that `?format=` takes, in the order of lists. */
export const FORMAT_NAMES = Object.keys(FORMATS).filter((name): name is FormatName => name in FORMATS)

export type { ExportedRequest, Format } from './format.ts'
export { HAR_END, HAR_START, harEntry } from './har.ts'
