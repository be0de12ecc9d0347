/** A value of JSON as the samples write it. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [member: string]: JsonValue }

/** A JSON object. */
export type JsonObject = { readonly [member: string]: JsonValue }

/** What a sample is made of, so that no two are the same request. */
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

/** One event that a provider sends, with a body that is ours: shaped like the provider's, with made-up values. */
export interface SampleEvent {
  /** The event type, as the provider spells it. */
  readonly event: string
  /** One line for lists. */
  readonly summary: string
  /** A new document each time, which signing may change. */
  body(facts: Facts): JsonObject | readonly JsonObject[]
  /** Header fields besides `Content-Type`, `User-Agent` and those of the signature. */
  headers?(facts: Facts): Readonly<Record<string, string>>
}

/** The samples of one provider. */
export interface ProviderSamples {
  /** Slug of the provider catalog. */
  readonly provider: string
  /** Bodies are sent as forms; JSON without it. */
  readonly isForm?: boolean
  /** The first is what is sent where no event is named. */
  readonly events: readonly SampleEvent[]
}
