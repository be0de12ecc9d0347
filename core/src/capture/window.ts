/** The capture rate's window: fixed, it starts with the first capture in it. */
export const WINDOW_SECONDS = 60
