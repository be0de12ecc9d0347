/** Longer texts are not credentials. */
const CREDENTIAL_CHARACTERS_MAX = 1024

/**
 * Removes secrets from a log line, wherever they came from. An API key or a token of an agent keeps its prefix, which is safe to show; text
 * after `Bearer` and passwords in URLs are removed. Takes linear time, because parts of the line come from unknown
 * clients.
 */
export function withoutSecrets(line: string): string {
  const keyless = line
    .replaceAll(/(creel_(?:live|oauth|refresh|code)_\w{6})\w+/g, '$1[secret]')
    .replaceAll(/\b(Bearer|Basic)\s+[^\s"'\\,]+/gi, '$1 [secret]')
  return withoutPasswords(keyless)
}

/** `user:password@` after `://`. Each match starts where the one before it ended, which keeps the time linear. */
const USER_AND_PASSWORD = new RegExp(
  `^([^\\s:/@"]{0,${CREDENTIAL_CHARACTERS_MAX}}):[^\\s/@"]{1,${CREDENTIAL_CHARACTERS_MAX}}@`,
)

function withoutPasswords(line: string): string {
  const [start = '', ...rest] = line.split('://')
  let clean = start
  for (const part of rest) clean += `://${part.replace(USER_AND_PASSWORD, '$1:[secret]@')}`
  return clean
}
