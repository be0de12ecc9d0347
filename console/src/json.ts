/** A number of a JSON text that a double prints otherwise, as `9007199254740993` or `1.0`: kept as it is spelled. */
export class SpelledNumber {
  constructor(readonly text: string) {}

  /** `JSON.stringify` writes the digits as they were. */
  toJSON(): unknown {
    return JSON.rawJSON(this.text)
  }
}

/** Whether a JSON value is an object: neither null nor a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof SpelledNumber)
  )
}

/**
 * Numbers that a double may print otherwise, between the marks of JSON: minus zero, and those of many digits, with an
 * exponent or with a zero at the end of the fraction. Without any, a text is read at full speed.
 */
const SPELLED_NUMBER =
  /(?:^|[[,:\s])(?:-0|-?(?:[\d.]{16,}|[\d.]+[eE][+-]?\d+|\d+\.(?:\d{7,}|\d*0)))(?=[\s,\]}]|$)/

/**
 * The value of a JSON text, in which a number that a double prints otherwise is a {@link SpelledNumber}.
 *
 * @throws SyntaxError for another text
 */
export function readJson(text: string): unknown {
  if (!SPELLED_NUMBER.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_name, value, context) => {
    // Older browsers do not pass the spelling, and cannot write it.
    const source = typeof value === 'number' ? context?.source : undefined
    return source === undefined || source === String(value) ? value : new SpelledNumber(source)
  })
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The value of a JSON text, as {@link readJson} makes it; undefined for another text. */
export function parsed(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}
