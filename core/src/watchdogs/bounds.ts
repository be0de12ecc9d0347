/** Bounds of a watchdog's `expectedIntervalSeconds`: a second to 31 days. */
export const MIN_INTERVAL_SECONDS = 1
/** The shortest interval that a suggestion makes. */
export const MIN_SUGGESTED_SECONDS = 60
/** Upper bound of `expectedIntervalSeconds`: 31 days. */
export const MAX_INTERVAL_SECONDS = 2_678_400
/** Upper bound of `graceSeconds`; the lower one is 0. */
export const MAX_GRACE_SECONDS = 2_678_400
/** The most contacts that one watchdog names. */
export const MAX_ALERT_CONTACTS = 20
/** The most labels that the labels route names. */
export const MAX_LABELS = 200
