import { headerText } from '@creel/core/engine/message'

/** The parts of a target under `/hook/`. */
export interface CaptureTarget {
  /** The id in the capture URL, in lower case. */
  readonly captureId: string
  /** The raw part after the id, `''` when none. */
  readonly path: string
  /** Raw, without `?`; null when the target had none. */
  readonly queryString: string | null
}

const TARGET = /^\/hook\/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(\/[^?]*)?(?:\?(.*))?$/s

/**
 * @param path of the target, one character a byte: bytes beyond ASCII are read as headers' are
 * @returns undefined when there is no well-formed id
 */
export function parseTarget(path: string): CaptureTarget | undefined {
  const [, captureId, suffix = '', queryString] = TARGET.exec(path) ?? []
  if (captureId === undefined) return undefined
  return {
    captureId: captureId.toLowerCase(),
    path: headerText(suffix),
    queryString: queryString === undefined ? null : headerText(queryString),
  }
}
