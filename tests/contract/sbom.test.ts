import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { sbomText } from '../../scripts/sbom.ts'

const ROOT = join(import.meta.dir, '../..')

const Sbom = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  serialNumber: z.string().regex(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  components: z.array(
    z.looseObject({
      'bom-ref': z.string(),
      name: z.string(),
      version: z.string().regex(/^\d+\.\d+\.\d+/),
      purl: z.string().regex(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@[\w.+-]+$/),
      hashes: z
        .array(z.object({ alg: z.literal('SHA-512'), content: z.string().regex(/^[0-9a-f]{128}$/) }))
        .min(1),
    }),
  ),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
})
const Package = z.looseObject({ dependencies: z.record(z.string(), z.string()).default({}) })

const sbom = Sbom.parse(JSON.parse(await sbomText()))

describe('the list of what the executable is made of', () => {
  test('names every package that a shipped workspace asks for, at the version that it asks for', () => {
    const listed = new Set(sbom.components.map(({ name, version }) => `${name}@${version}`))
    const missing = [
      'core',
      'gateway',
      'jobs',
      'migrations',
      'creel',
      'clients/terminal',
      'clients/typescript',
    ].flatMap((folder) => {
      const { dependencies } = Package.parse(
        JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')),
      )
      return Object.entries(dependencies)
        .filter(([, version]) => !version.startsWith('workspace:'))
        .map(([name, version]) => `${name}@${version}`)
        .filter((one) => !listed.has(one))
    })
    expect(missing).toEqual([])
    // Tools for building and testing are not part of it.
    expect(sbom.components.map(({ name }) => name)).not.toContain('playwright-core')
  })

  test('is closed: each is named once, and needs nothing that is not named', () => {
    const refs = sbom.components.map((component) => component['bom-ref'])
    expect(new Set(refs).size).toBe(refs.length)
    const needed = sbom.dependencies.flatMap(({ dependsOn }) => dependsOn)
    expect(needed.filter((ref) => !refs.includes(ref))).toEqual([])
    expect(sbom.dependencies.map(({ ref }) => ref)).toEqual(['creel', ...refs])
  })

  test('is the same each time', async () => {
    expect(await sbomText()).toBe(await sbomText())
  })
})
