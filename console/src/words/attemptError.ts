/** Sentence for an error code of an attempt. */
const SENTENCES: Readonly<Record<string, string>> = {
  dns: 'The host name does not resolve.',
  connect: 'The receiver does not accept connections.',
  tls: 'The TLS connection failed.',
  blocked_address:
    'The address is in a private network. An operator can allow it with CREEL_ALLOW_DESTINATIONS.',
  loop: 'The address is this service itself.',
  auth: 'The credentials for the receiver could not be fetched.',
  timeout: 'The receiver did not answer in time.',
  reset: 'There was no usable answer:',
  aborted: 'The service stopped before the answer arrived.',
  interrupted: 'The service stopped before the answer arrived.',
  unsendable: 'The request cannot be sent.',
  unsafe_path: 'Nothing was sent:',
  rule_fault: 'A rule failed on this request.',
  original_gone: 'Nothing was sent: the original of the request is gone, and only a part of it is stored.',
  shredded: 'Nothing was sent: the key of the content of the request was destroyed.',
}

/** Explains why an attempt failed: the sentence for its code, then the service's detail. */
export function attemptErrorWords(error: string): string {
  const status = /^http_(\d{3})$/.exec(error)?.[1]
  if (status !== undefined) return `The receiver answered ${status}.`
  const [, code = '', detail = ''] = /^([a-z_]+)(?:: ([\s\S]*))?$/.exec(error) ?? []
  const sentence = SENTENCES[code]
  if (sentence === undefined) return error
  return detail === '' ? sentence : `${sentence} ${detail}`
}
