/** A file that is embedded in the executable: the import is the path to read it from. */
declare module '*.tar.zst' {
  const path: string
  export default path
}

/** The console's files, packed; embedded in the same way. */
declare module '*.pack' {
  const path: string
  export default path
}
