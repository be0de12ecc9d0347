import { createHash } from 'node:crypto'
import type { NpmPlatform, NpmTarball, PackageFacts } from './npmPackages.ts'

/**
 * The Homebrew formula: it installs the executable of a platform package, from the npm registry.
 *
 * @param tarballs the platform packages
 */
export function formula(facts: PackageFacts, tarballs: Readonly<Record<NpmPlatform, NpmTarball>>): string {
  const source = (platform: NpmPlatform) => {
    const sha256 = createHash('sha256').update(tarballs[platform].contents).digest('hex')
    return `      url "https://registry.npmjs.org/@creel/${platform}/-/${platform}-${facts.version}.tgz"
      sha256 "${sha256}"`
  }
  return `class Creel < Formula
  desc "Captures webhooks, shows them live, and replays them"
  homepage "${facts.repository ?? 'https://www.npmjs.com/package/creel'}"
  version "${facts.version}"
  license "MIT"

  on_macos do
    depends_on macos: :ventura
    on_arm do
${source('darwin-arm64')}
    end
    on_intel do
${source('darwin-x64')}
    end
  end

  on_linux do
    on_arm do
${source('linux-arm64')}
    end
    on_intel do
${source('linux-x64')}
    end
  end

  def install
    bin.install "bin/creel"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/creel --version")
  end
end
`
}
