/** Font files: served beside the script, the import is their address. */
declare module '@fontsource-variable/*' {
  const url: string
  export default url
}

/** Style sheets are imported for their effect. */
declare module '*.css' {}
