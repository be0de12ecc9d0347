import packageJson from '../package.json' with { type: 'json' }

/** The program's version, shown by `creel --version`, in the API's description and in the log. */
export const VERSION = packageJson.version
