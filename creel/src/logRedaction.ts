/** Longer credentials than this are nobody's. */
const CREDENTIAL_CHARACTERS_MAX = 1024

/**
 * Takes secrets out of a log line, whatever brought them there: an API key keeps the prefix that is safe to show; what
 * follows `Bearer` or stands as a password in a URL goes. Takes time in proportion to the line: strangers write parts of it.
 */
export function withoutSecrets(line: string): string {
  const keyless = line
    .replaceAll(/(creel_live_\w{6})\w+/g, '$1[secret]')
    .replaceAll(/\b(Bearer|Basic)\s+[^\s"'\\,]+/gi, '$1 [secret]')
  return withoutPasswords(keyless)
}

/** `user:password@` behind `://`. Every other look begins where the one before it ended. */
const USER_AND_PASSWORD = new RegExp(
  `^([^\\s:/@"]{0,${CREDENTIAL_CHARACTERS_MAX}}):[^\\s/@"]{1,${CREDENTIAL_CHARACTERS_MAX}}@`,
)

function withoutPasswords(line: string): string {
  const [start = '', ...rest] = line.split('://')
  let clean = start
  for (const part of rest) clean += `://${part.replace(USER_AND_PASSWORD, '$1:[secret]@')}`
  return clean
}
