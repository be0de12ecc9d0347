/** A JSON value in a sample. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue }

/** Body of a sample event. */
export type JsonObject = { readonly [member: string]: JsonValue }

/** Values that make each sample unique. */
export interface Facts {
  readonly now: Date
  /** Whole seconds since 1970. */
  readonly unix: number
  /** ISO 8601 with milliseconds. */
  readonly iso: string
  /** A number of `digits` digits that does not start with 0. */
  number(digits: number): number
  /** `count` letters and digits. */
  token(count: number): string
  /** `count` hex digits. */
  hex(count: number): string
  uuid(): string
}

/** One event of a provider. Its body has the provider's structure, with made-up values. */
export interface SampleEvent {
  /** The event type, as the provider spells it. */
  readonly event: string
  /** One line for lists. */
  readonly summary: string
  /** Creates a new document, which signing may change. */
  body(facts: Facts): JsonObject | readonly JsonObject[]
  /** Header fields in addition to `Content-Type`, `User-Agent` and those of the signature. */
  headers?(facts: Facts): Readonly<Record<string, string>>
}

/** Sample events of one provider, the default one first. */
export interface ProviderSamples {
  /** Slug of the provider catalog. */
  readonly provider: string
  /** Whether bodies are sent as forms instead of JSON. */
  readonly isForm?: boolean
  /** The first event is the default. */
  readonly events: readonly SampleEvent[]
}
