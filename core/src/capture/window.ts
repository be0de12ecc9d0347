/** Length of the window of the capture rate. It is fixed, and starts with its first capture. */
export const WINDOW_SECONDS = 60
