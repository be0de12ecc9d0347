import { SafeText } from '@creel/terminal/output/safeText'

/** Facts of a service that is ready. */
export interface Ready {
  readonly baseUrl: string
  readonly captureUrl: string
  readonly key: string
  /**
   * A link that signs a browser in, once; null if there is no console, or if the browser was opened with it already.
   */
  readonly signInUrl: string | null
  /** Whether the key is shown for the first and only time. */
  readonly isKeyNew: boolean
  /** The command line of this program, as its user types it. */
  readonly command: string
  /** Line about a retention that users may not expect; null for none. */
  readonly retention: string | null
}

/** The names that the documents use in calls with curl. `creel` itself reads the long ones. */
export const SHORT_NAMES = '  export BASE=$CREEL_URL KEY=$CREEL_KEY'

/** The greeting: the capture URL, lines to paste into a shell, and the link; each of them once. */
export function readyBlock({
  baseUrl,
  captureUrl,
  key,
  signInUrl,
  isKeyNew,
  command,
  retention,
}: Ready): SafeText[] {
  return [
    '',
    SafeText.joined(['Capture URL', SafeText.styled('bold', captureUrl)], '  '),
    '',
    'For this shell:',
    `  export CREEL_URL=${shellWord(baseUrl)}`,
    `  export CREEL_KEY=${shellWord(key)}`,
    `  export HOOK=${shellWord(captureUrl)}`,
    SHORT_NAMES,
    ...(isKeyNew ? ['  The key is shown only once.'] : []),
    '',
    'Try it:',
    `  curl "$HOOK" -H 'Content-Type: application/json' -d '{"hello":"world"}'`,
    `  ${command} listen --to 3000`,
    '',
    ...(signInUrl === null
      ? []
      : ['Watch it in the console (the link works once, within 15 minutes):', `  ${signInUrl}`, '']),
    ...(retention === null ? [] : [retention, '']),
  ].map((line) => SafeText.of(line))
}

/** Quotes a value for a shell, so that it stays one word. */
export const shellWord = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
