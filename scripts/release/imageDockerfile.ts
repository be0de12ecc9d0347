/** The stage that compiles, and the line that takes its result. */
const BUILD_STAGE = /^# Build from [^\n]*\nFROM \S+ AS build\n.*?\n\n/s
const COPIED = 'COPY --from=build /src/dist/creel /usr/local/bin/creel'

/**
 * The Dockerfile of a release: that of the sources, with the release's executables (`creel-amd64`, `creel-arm64` of its context) in place
 * of a compilation.
 *
 * @param ofSources the text of `deploy/docker/Dockerfile`
 * @throws Error when that no longer has the parts that are replaced
 */
export function imageDockerfile(ofSources: string): string {
  if (!BUILD_STAGE.test(ofSources) || !ofSources.includes(COPIED)) {
    throw new Error('deploy/docker/Dockerfile has no stage that compiles, or takes nothing from it.')
  }
  return ofSources
    .replace(BUILD_STAGE, '# docker buildx build --platform linux/amd64,linux/arm64 -t creel .\n')
    .replace(
      COPIED,
      `ARG TARGETARCH\n${COPIED.replace('--from=build /src/dist/creel', '--chmod=0755 creel-$TARGETARCH')}`,
    )
}
