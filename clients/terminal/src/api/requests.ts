import type { WholeRequest } from 'creel-client'

/** The value of a captured header as sent: a latin1 string, in which each character is one byte. */
export function headerBytes({ value, encoding }: WholeRequest['rawHeaders'][number]): string {
  return encoding === 'latin1' ? value : Buffer.from(value, 'utf8').toString('latin1')
}
