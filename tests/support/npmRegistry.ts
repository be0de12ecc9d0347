import { createHash } from 'node:crypto'
import type { NpmTarball } from '../../scripts/release/npmPackages.ts'

/** An npm registry on this machine. */
export interface NpmRegistry extends AsyncDisposable {
  readonly url: string
  /** Paths of the tarballs that were fetched. */
  readonly fetched: readonly string[]
}

/**
 * Serves packages as npm's registry does, and refuses every other.
 *
 * @param tarballs one of each package
 */
export function startNpmRegistry(tarballs: readonly NpmTarball[]): NpmRegistry {
  const packages = new Map(tarballs.map((tarball) => [tarball.manifest.name, tarball]))
  const fetched: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, origin } = new URL(request.url)
      const [, name = '', isTarball] =
        /^\/(.+?)(\/-\/tarball\.tgz)?$/.exec(decodeURIComponent(pathname)) ?? []
      const found = packages.get(name)
      if (found === undefined) return new Response(null, { status: 404 })
      if (isTarball !== undefined) {
        fetched.push(name)
        return new Response(found.contents)
      }
      const { version } = found.manifest
      const integrity = `sha512-${createHash('sha512').update(found.contents).digest('base64')}`
      const dist = { tarball: `${origin}/${name}/-/tarball.tgz`, integrity }
      return Response.json({
        name,
        'dist-tags': { latest: version },
        versions: { [version]: { ...found.manifest, dist } },
      })
    },
  })
  return {
    url: server.url.origin,
    fetched,
    [Symbol.asyncDispose]: async () => await server.stop(true),
  }
}
