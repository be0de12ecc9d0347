export interface Check {
  /** The subject, such as `disk`. */
  readonly name: string
  /** A `failure` loses data or stops the service; a `warning` costs speed, or will become a failure. */
  readonly level: 'ok' | 'warning' | 'failure'
  readonly found: string
  readonly change: string | null
}

/** Makes a {@link Check}. */
export function check(
  name: string,
  level: Check['level'],
  found: string,
  change: string | null = null,
): Check {
  return { name, level, found, change }
}
