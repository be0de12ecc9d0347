/**
 * Migrations after which processes of older versions must not go on, and why. Everything else only adds, and lets old and new
 * processes run side by side while one is replaced by the other.
 */
export const STOPS: Readonly<Record<string, string>> = {
  '20261122T1650_field_words': 'renames columns that processes of 0.1.0 read and write',
}
