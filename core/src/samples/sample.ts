import { randomBytes, randomInt, randomUUID } from 'node:crypto'

export interface ProviderSamples {
  /** Slug of the provider catalog. */
  readonly provider: string
  /** Whether bodies are sent as forms instead of JSON. */
  readonly isForm?: boolean
  /** The first event is the default. */
  readonly events: readonly SampleEvent[]
}

/** One event of a provider: its structure, with made-up values. Texts may have the places of {@link filled}. */
export interface SampleEvent {
  /** The event type, as the provider spells it. */
  readonly event: string
  /** One line for lists. */
  readonly summary: string
  readonly body: object
  /** Header fields in addition to `Content-Type`, `User-Agent` and those of the signature. */
  readonly headers?: Readonly<Record<string, string>>
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

const letters = (count: number) =>
  Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join('')
const digits = (count: number) =>
  Array.from({ length: count }, (_, at) => (at === 0 ? randomInt(1, 10) : randomInt(10))).join('')

/** Values that make each sample unique, by the name of their place. The number of a place is a length, of `unix` an addend. */
const PLACES: Readonly<Record<string, (now: Date, given: number) => string | number>> = {
  unix: (now, more) => Math.floor(now.getTime() / 1000) + more,
  seconds: (now) => String(Math.floor(now.getTime() / 1000)),
  ms: (now) => now.getTime(),
  iso: (now) => now.toISOString(),
  isoSeconds: (now) => now.toISOString().slice(0, 19),
  number: (_, count) => Number(digits(count)),
  digits: (_, count) => digits(count),
  token: (_, count) => letters(count),
  upper: (_, count) => letters(count).toUpperCase(),
  lower: (_, count) => letters(count).toLowerCase(),
  hex: (_, count) => randomBytes(count).toString('hex').slice(0, count),
  uuid: () => randomUUID(),
}

const PLACE = /\{([a-z]+)(?:[:+]([\d.]+))?\}/gi

/**
 * A copy of a sample's part with its places filled: `{unix}`, `{unix+60}`, `{number:5}`, `{token:24}`. A text that is
 * nothing but a place becomes its value, which may be a number.
 *
 * @throws Error for a place that does not exist
 */
export function filled(part: object, now: Date): object {
  const value = (one: unknown): unknown => {
    if (typeof one === 'string') return filledText(one, now)
    return typeof one === 'object' && one !== null ? filled(one, now) : one
  }
  if (Array.isArray(part)) return part.map(value)
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, value(one)]))
}

/** The same for a text. */
export function filledText(text: string, now: Date): string | number {
  const placed = (name = '', given = '0') => {
    const value = PLACES[name]?.(now, Number(given))
    if (value === undefined) throw new Error(`Samples have no place {${name}}.`)
    return value
  }
  const [found] = text.matchAll(PLACE)
  if (found?.[0] === text) return placed(found[1], found[2])
  return text.replaceAll(PLACE, (_, name?: string, given?: string) => String(placed(name, given)))
}
