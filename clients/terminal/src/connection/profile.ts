import type { Stats } from 'node:fs'
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { ClientError } from '../clientError.ts'
import type { Environment } from '../tools.ts'
import { jsonOrText } from '../words.ts'

const Profile = z.object({ url: z.string(), key: z.string() })

/** The service and the key that `creel login` stored. */
export interface Profile extends z.infer<typeof Profile> {
  readonly file: string
}

/** A file in the user's configuration folder. */
export function configFile(environment: Environment, name: string): string {
  const folder = environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), '.config')
  return join(folder, 'creel', name)
}

const profileFile = (environment: Environment) => configFile(environment, 'profile.json')

/**
 * The profile; undefined without a login.
 *
 * @throws ClientError when the file exists and cannot be used
 */
export async function readProfile(environment: Environment): Promise<Profile | undefined> {
  const file = profileFile(environment)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw new ClientError(`The profile ${file} cannot be read: ${error.message}`)
  })
  if (text === undefined) return undefined
  const profile = Profile.safeParse(jsonOrText(text))
  if (!profile.success) {
    throw new ClientError(`The profile ${file} is damaged.`, [
      '`creel login` replaces it; `creel logout` removes it.',
    ])
  }
  return { ...profile.data, file }
}

/** Replaces the profile. Only its owner can read the file. Returns the file. */
export async function writeProfile(
  environment: Environment,
  profile: { url: string; key: string },
): Promise<string> {
  const file = profileFile(environment)
  await writePrivately(file, `${JSON.stringify(profile, null, 2)}\n`)
  return file
}

/** Removes the profile; false when there was none. */
export async function removeProfile(environment: Environment): Promise<boolean> {
  const file = profileFile(environment)
  if ((await readFile(file).catch(() => undefined)) === undefined) return false
  await rm(file, { force: true })
  return true
}

/** Writes a file of mode 0600 atomically: a reader sees the old text or the new one. */
export async function writePrivately(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await replaceFile(file, text)
}

/** Mode and owner of a file, as `stat` gives them. */
type Access = Pick<Stats, 'mode' | 'uid' | 'gid'>

/**
 * Writes a file atomically.
 *
 * @param access by default only who writes it can read it
 */
export async function replaceFile(file: string, text: string, access?: Access): Promise<void> {
  const unfinished = `${file}.${process.pid}`
  try {
    await writeFile(unfinished, text, { mode: 0o600 })
    if (access !== undefined) {
      await chown(unfinished, access.uid, access.gid)
      await chmod(unfinished, access.mode)
    }
    await rename(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
