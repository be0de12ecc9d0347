import { Glob } from 'bun'

/** One import of a source file. */
export interface Import {
  /** As written: `../route.ts`, `@creel/core`, `pg`. */
  readonly from: string
  /** True for `import type …`, which does not exist at run time. */
  readonly isTypeOnly: boolean
}

export interface SourceFile {
  /** From the repository's root: `core/src/api/route.ts`. */
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
  readonly isTest: boolean
}

export const ROOT = new URL('../..', import.meta.url).pathname

const IMPORT = /^\s*(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'/gm
const DYNAMIC_IMPORT = /\bimport\(\s*'([^']+)'\s*\)/g

/** Every TypeScript file below the folders, with what it imports. */
export async function sourcesOf(...folders: string[]): Promise<SourceFile[]> {
  const files: SourceFile[] = []
  for (const folder of folders) {
    for await (const path of new Glob(`${folder}/**/*.{ts,tsx}`).scan({ cwd: ROOT })) {
      if (path.includes('node_modules/')) continue
      const text = await Bun.file(ROOT + path).text()
      files.push({ path, text, imports: importsOf(text), isTest: path.endsWith('.test.ts') })
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function importsOf(text: string): Import[] {
  const code = text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  return [
    ...[...code.matchAll(IMPORT)].map((match) => ({
      from: match[2] ?? '',
      isTypeOnly: match[1] !== undefined,
    })),
    ...[...code.matchAll(DYNAMIC_IMPORT)].map((match) => ({ from: match[1] ?? '', isTypeOnly: false })),
  ]
}
