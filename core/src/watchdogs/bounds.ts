/** Lower bound of `expectedIntervalSeconds`. */
export const MIN_INTERVAL_SECONDS = 1
/** Shortest suggested interval. */
export const MIN_SUGGESTED_SECONDS = 60
/** Upper bound of `expectedIntervalSeconds`: 31 days. */
export const MAX_INTERVAL_SECONDS = 2_678_400
/** Upper bound of `graceSeconds`; the lower one is 0. */
export const MAX_GRACE_SECONDS = 2_678_400
/** Contacts that one watchdog may have. */
export const MAX_ALERT_CONTACTS = 20
/** Labels in the answer of the labels route. */
export const MAX_LABELS = 200
