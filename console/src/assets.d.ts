/** Font files, served next to the script. An import yields the file's URL. */
declare module '@fontsource-variable/*' {
  const url: string
  export default url
}

/** Style sheets, imported for their side effect. */
declare module '*.css' {}
