/** The service's router. In the package this file is the compiler's own rendering of it, in one piece. */
export type { AppRouter } from '@creel/core'
