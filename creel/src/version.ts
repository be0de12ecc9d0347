import packageJson from '../package.json' with { type: 'json' }

/** Shown by `creel --version`, in the API's description and in the log. */
export const VERSION = packageJson.version
