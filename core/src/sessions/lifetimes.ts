/** Maximum lifetime of a session after sign-in. */
export const SESSION_DAYS = 30

/** Idle time after which a session ends. */
export const IDLE_DAYS = 7

/** Lifetime of a sign-in link, which works once. */
export const LINK_MINUTES = 15
