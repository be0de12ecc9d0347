import { dlopen, FFIType } from 'bun:ffi'

/** Connections that may wait to be accepted; Bun's default is 512. A lower limit of the system applies. */
const BACKLOG = 4096

/** File names of the C library: glibc's, musl's by processor, that of macOS. */
const LIBRARIES = [
  'libc.so.6',
  'libc.musl-x86_64.so.1',
  'libc.musl-aarch64.so.1',
  'libSystem.B.dylib',
] as const

/**
 * Lets more connections wait to be accepted while the process is busy. The system drops a connection when the backlog
 * is full, and the client's system repeats it after a second, so of a thousand clients that connect at once some would
 * be served a second late. Bun has no option for the backlog, but the system takes a new length for a socket that
 * listens already.
 *
 * @param listening the result of `Bun.listen`; unchanged when no C library is found
 */
export function lengthenBacklog(listening: object): void {
  if (!('fd' in listening) || typeof listening.fd !== 'number') return
  for (const name of LIBRARIES) {
    const library = openLibrary(name)
    if (library === undefined) continue
    library.symbols.listen(listening.fd, BACKLOG)
    library.close()
    return
  }
}

function openLibrary(name: string) {
  try {
    return dlopen(name, { listen: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } })
  } catch {
    return undefined
  }
}
