/**
 * Migrations after which processes of older versions must not continue, with the reason. All others only add, so that
 * old and new processes can run at the same time during an upgrade.
 */
export const STOPS: Readonly<Record<string, string>> = {
  '20261122T1100_field_words': 'renames columns that processes of 0.1.0 read and write',
}
