import { link, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeChecksums } from './checksums.ts'
import { formula } from './formula.ts'
import { imageDockerfile } from './imageDockerfile.ts'
import {
  clientTarball,
  launcherTarball,
  NPM_PLATFORMS,
  type NpmTarball,
  type PackageFacts,
  platformTarball,
} from './npmPackages.ts'

const DEPLOY = join(import.meta.dir, '../../deploy')
const DOCKERFILE = join(DEPLOY, 'docker/Dockerfile')
/** Unit and environment of an installation with systemd. */
const UNIT_FILES = ['creel.service', 'creel.env'] as const

/** Executables of a release beside those of the npm packages. */
const OTHER_TARGETS = ['linux-x64-musl'] as const

const executableName = (target: string): string => `creel-${target}`

/** Parts that are made before a release is put together. */
export interface ReleaseParts extends PackageFacts {
  /** Folder of the package `creel-client`, built. */
  readonly client: string
  /** List of what the executables are made of, in CycloneDX. */
  readonly sbom: string
}

/**
 * Puts a release together in a folder that holds its executables (`creel-<target>`) and nothing else. It adds the npm tarballs, the SBOM, the
 * Homebrew formula, the unit for systemd, the context of the image (`image/`) and `SHA256SUMS`. The same parts make the same bytes.
 *
 * @returns the names of the files, from the folder
 */
export async function assembleRelease(folder: string, parts: ReleaseParts): Promise<readonly string[]> {
  const write = async ({ name, contents }: NpmTarball) => {
    await writeFile(join(folder, name), contents)
    return name
  }
  const packed = async (platform: (typeof NPM_PLATFORMS)[number]) =>
    await platformTarball(parts, platform, join(folder, executableName(platform)))
  const ofPlatforms = {
    'linux-x64': await packed('linux-x64'),
    'linux-arm64': await packed('linux-arm64'),
    'darwin-x64': await packed('darwin-x64'),
    'darwin-arm64': await packed('darwin-arm64'),
  }
  const tarballs = [
    await launcherTarball(parts),
    ...Object.values(ofPlatforms),
    await clientTarball(parts, parts.client),
  ]
  const names = [...NPM_PLATFORMS, ...OTHER_TARGETS].map(executableName)
  for (const tarball of tarballs) names.push(await write(tarball))
  await writeFile(join(folder, 'creel.cdx.json'), parts.sbom)
  await writeFile(join(folder, 'creel.rb'), formula(parts, ofPlatforms))
  await mkdir(join(folder, 'image'))
  await writeFile(join(folder, 'image/Dockerfile'), imageDockerfile(await readFile(DOCKERFILE, 'utf8')))
  // Links: another copy of both is 300 MB.
  await link(join(folder, executableName('linux-x64')), join(folder, 'image/creel-amd64'))
  await link(join(folder, executableName('linux-arm64')), join(folder, 'image/creel-arm64'))
  for (const name of UNIT_FILES)
    await writeFile(join(folder, name), await readFile(join(DEPLOY, 'systemd', name)))
  names.push('creel.cdx.json', 'creel.rb', 'image/Dockerfile', ...UNIT_FILES)
  await writeChecksums(folder, names)
  return names
}
