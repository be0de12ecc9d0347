/** Retention from which an installation says at its first start that it practically never deletes. */
const LONG_DAYS = 3_650
const DAYS_OF_YEAR = 365
/** No plan keeps captures for longer, whatever its number. */
const DAYS_MAX = 36_500

/** Says for how long a plan keeps captures, and how to change that; null for a plan that deletes within ten years. */
export function longRetention(planKey: string, retentionDays: number) {
  if (retentionDays < LONG_DAYS) return null
  const years = Math.floor(Math.min(retentionDays, DAYS_MAX) / DAYS_OF_YEAR)
  return {
    found: `Captures are kept for ${years} years (plan ${planKey}).`,
    change: `To delete them earlier, set retentionDays of ${planKey} in CREEL_PLANS_FILE: {"${planKey}":{"retentionDays":90}}.`,
  }
}

/** {@link longRetention} as one line. */
export function retentionLine(planKey: string, retentionDays: number): string | null {
  const long = longRetention(planKey, retentionDays)
  return long && `${long.found} ${long.change}`
}
