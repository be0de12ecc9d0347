import { dlopen, FFIType } from 'bun:ffi'

/** So many connections may wait to be accepted, where Bun has 512; the system's own limit holds if it is lower. */
const BACKLOG = 4096

/** The C library's names: glibc's, musl's by processor, that of macOS. */
const LIBRARIES = [
  'libc.so.6',
  'libc.musl-x86_64.so.1',
  'libc.musl-aarch64.so.1',
  'libSystem.B.dylib',
] as const

/**
 * Lets more connections wait to be accepted while the process is busy with those before them. The system drops one that
 * finds no place, and the client's system repeats it after a second: of a thousand clients that come at once, some would be served a
 * second late. Bun has no option for it, but the system takes a new length for a socket that listens already.
 *
 * @param listening what `Bun.listen` gave; left as it is where no C library is found
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
