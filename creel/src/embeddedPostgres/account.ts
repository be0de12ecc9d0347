import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StartupError } from '../startupError.ts'

/** A user and group for processes and files. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Accounts without files of their own on an ordinary machine, most suitable first. */
const SERVICE_ACCOUNTS = ['postgres', '_postgres', 'nobody', 'daemon']

/** `-2` of macOS's `nobody`, as the kernel writes it. */
const asUnsigned = (id: number) => id >>> 0

/**
 * The account for PostgreSQL, or undefined for our own. PostgreSQL refuses to run as root, so root starts it under
 * another account. `initdb` requires that the account has an entry in `/etc/passwd`.
 */
export async function postgresAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const accounts = new Map<string, Account>()
  for (const line of (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name === undefined || uid === undefined || gid === undefined) continue
    accounts.set(name, { uid: asUnsigned(Number(uid)), gid: asUnsigned(Number(gid)) })
  }
  for (const name of SERVICE_ACCOUNTS) {
    const account = accounts.get(name)
    if (account !== undefined && account.uid !== 0) return account
  }
  throw new StartupError(
    'PostgreSQL refuses to run as root, and /etc/passwd has no other account for it. ' +
      'Start creel as an ordinary user, add a user named "postgres", or set DATABASE_URL.',
  )
}

/** Whether the account may pass through a folder and every folder above it. Access control lists are ignored. */
export async function canReach(account: Account, folder: string): Promise<boolean> {
  const { uid, gid, mode } = await stat(folder)
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
  if ((mode & bit) === 0) return false
  const parent = dirname(folder)
  return parent === folder || canReach(account, parent)
}
