/** A session ends so long after sign-in at the latest. */
export const SESSION_DAYS = 30

/** A session that nobody used for so long has ended. */
export const IDLE_DAYS = 7

/** A sign-in link works for so long, and once. */
export const LINK_MINUTES = 15
