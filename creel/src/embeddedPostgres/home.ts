import { createHash, randomBytes } from 'node:crypto'
import { chmod, chown, lstat, mkdir, readFile, realpath, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
async function postgresAccount(): Promise<Account | undefined> {
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
async function canReach(account: Account, folder: string): Promise<boolean> {
  const { uid, gid, mode } = await stat(folder)
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
  if ((mode & bit) === 0) return false
  const parent = dirname(folder)
  return parent === folder || canReach(account, parent)
}

/** Parent folder of databases whose data folder PostgreSQL's account cannot reach; used by root. */
const STATE_FOLDER = '/var/lib/creel'

/** `sun_path` holds 103 bytes on macOS and 107 on Linux; `/.s.PGSQL.5432` takes 14 of them. */
const SOCKET_FOLDER_BYTES_MAX = 88

/** The folder of one embedded PostgreSQL, and its owner. */
export interface PostgresHome {
  /** Real path, free of symbolic links, that the owning account can reach. */
  readonly folder: string
  /** The cluster, which PostgreSQL calls its data directory. The path contains the major version. */
  readonly clusterFolder: string
  readonly socketFolder: string
  readonly logFile: string
  /** Undefined for the account of this process. */
  readonly account: Account | undefined
}

/**
 * Finds or creates the home of the embedded PostgreSQL in a data folder: its folder `postgres`. PostgreSQL does not run
 * as root. If root starts it in a place that no other account can reach (below `/root`, in a `mktemp -d`), `postgres`
 * is therefore a symbolic link to a folder in `/var/lib/creel`.
 *
 * @throws StartupError when the folder belongs to another user, its owner cannot reach it, or no reachable place can be
 *   written
 */
export async function openHome(dataDir: string): Promise<PostgresHome> {
  const account = await postgresAccount()
  await mkdir(dataDir, { recursive: true, mode: account === undefined ? 0o700 : 0o711 }).catch(
    (cause: Error) => {
      throw new StartupError(`The data folder ${dataDir} cannot be created: ${cause.message}`, { cause })
    },
  )
  const link = join(await realpath(dataDir), 'postgres')
  const existing = await lstat(link).catch(() => undefined)
  if (existing === undefined) await makeHome(link, account)
  const home = await describeHome(link, account)
  if (home.account !== undefined && !(await canReach(home.account, dirname(home.folder)))) {
    // As after a restore below /root: a copy has the folder itself where a link was.
    throw new StartupError(
      `The embedded database in ${home.folder} belongs to uid ${home.account.uid}, which cannot reach it there. Move the data ` +
        'folder to a path that this account can reach, e.g. /srv/creel, and set CREEL_DATA_DIR to it.',
    )
  }
  return home
}

/**
 * The home in a data folder; undefined if it has none. Changes nothing. Its owner may be unable to reach it from here, as under a
 * systemd unit with DynamicUser.
 */
export async function findHome(dataDir: string): Promise<PostgresHome | undefined> {
  const link = join(dataDir, 'postgres')
  if ((await stat(link).catch(() => undefined)) === undefined) return undefined
  return describeHome(link, await postgresAccount())
}

async function describeHome(link: string, account: Account | undefined): Promise<PostgresHome> {
  const folder = await realpath(link).catch(() => {
    throw new StartupError(
      `${link} points to a database folder that is gone. Restore it, or remove the link to start with an empty database.`,
    )
  })
  const { uid, gid } = await stat(folder)
  const own = process.getuid?.()
  if (account === undefined && uid !== own) {
    throw new StartupError(
      `The embedded database in ${folder} belongs to another user (uid ${uid}). Start creel as that user, ` +
        'or set CREEL_DATA_DIR to another folder.',
    )
  }
  // The owner of the database stays: a folder that an ordinary user created is still used as that user under root.
  const owner = account === undefined || uid === 0 ? account : { uid, gid }
  return {
    folder,
    clusterFolder: join(folder, 'cluster-18'),
    socketFolder: socketFolderOf(folder, uid),
    logFile: join(folder, 'postgres.log'),
    account: owner,
  }
}

async function makeHome(link: string, account: Account | undefined): Promise<void> {
  if (account === undefined) {
    await mkdir(link, { mode: 0o700 }).catch((cause: Error) => {
      throw new StartupError(`The data folder ${dirname(link)} cannot be written: ${cause.message}`, {
        cause,
      })
    })
    return
  }
  const dataDir = dirname(link)
  const { uid, mode } = await stat(dataDir)
  // The data folder is our own, so others may pass through it: that shows no names, and files with secrets are 0600.
  if (uid === 0 && (await canReach(account, dirname(dataDir)))) await chmod(dataDir, (mode & 0o777) | 0o011)
  if (await canReach(account, dataDir)) {
    await mkdir(link, { mode: 0o700 })
    await chown(link, account.uid, account.gid)
    return
  }
  const folder = join(STATE_FOLDER, randomBytes(8).toString('hex'))
  try {
    await mkdir(STATE_FOLDER, { recursive: true, mode: 0o711 })
    if (!(await canReach(account, STATE_FOLDER))) throw new Error(`${STATE_FOLDER} cannot be traversed`)
    await mkdir(folder, { mode: 0o700 })
    await chown(folder, account.uid, account.gid)
  } catch (cause) {
    throw new StartupError(
      `PostgreSQL does not run as root, its account (uid ${account.uid}) cannot reach ${dataDir}, and ${STATE_FOLDER} ` +
        'cannot be used instead. Set CREEL_DATA_DIR to a reachable folder, or start creel as an ordinary user.',
      { cause },
    )
  }
  await symlink(folder, link)
}

/** In the home if the socket's path fits the kernel's limit, else in /tmp under a name derived from the home. */
function socketFolderOf(folder: string, uid: number): string {
  const inside = join(folder, 'socket')
  if (Buffer.byteLength(inside) <= SOCKET_FOLDER_BYTES_MAX) return inside
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  return `/tmp/creel-${uid}-${name}`
}

/**
 * Creates the socket's folder. Only its owner may enter it, because the cluster trusts local connections.
 *
 * @throws StartupError when another user has put a folder or link of that name there
 */
export async function makeSocketFolder(home: PostgresHome): Promise<void> {
  const uid = home.account?.uid ?? process.getuid?.()
  await mkdir(home.socketFolder, { mode: 0o700 }).then(
    () => home.account && chown(home.socketFolder, home.account.uid, home.account.gid),
    () => undefined,
  )
  const made = await lstat(home.socketFolder)
  if (!made.isDirectory() || made.uid !== uid || (made.mode & 0o077) !== 0) {
    throw new StartupError(
      `${home.socketFolder} is not a private folder of uid ${uid}. Remove it and start again.`,
    )
  }
}
