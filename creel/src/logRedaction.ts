/**
 * Takes secrets out of a log line, whatever brought them there: an API key keeps the prefix that is safe to show; what
 * follows `Bearer` or stands as a password in a URL goes.
 */
export function withoutSecrets(line: string): string {
  return line
    .replaceAll(/(creel_live_\w{6})\w+/g, '$1[secret]')
    .replaceAll(/\b(Bearer|Basic)\s+[^\s"'\\,]+/gi, '$1 [secret]')
    .replaceAll(/\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@"]*):[^\s/@"]+@/gi, '$1:[secret]@')
}
