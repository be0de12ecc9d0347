/** A file that is embedded in the executable: the import is the path to read it from. */
declare module '*.tar.zst' {
  const path: string
  export default path
}
