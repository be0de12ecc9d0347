/** Files that the compiled executable carries; the import is their path. */
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  export default path
}

declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string
  export default path
}

declare module 'swagger-ui-dist/favicon-32x32.png' {
  const path: string
  export default path
}

/** Pages of the documentation; the import is their text. */
declare module '*.md' {
  const text: string
  export default text
}
