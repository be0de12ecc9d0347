/** A file embedded in the executable. An import yields the path to read it from. */
declare module '*.tar.zst' {
  const path: string
  export default path
}

/** The console's pack, embedded in the same way. */
declare module '*.pack' {
  const path: string
  export default path
}
