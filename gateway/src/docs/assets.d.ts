/** Files embedded in the compiled executable. An import yields the path. */
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

/** Pages of the documentation. An import yields the text. */
declare module '*.md' {
  const text: string
  export default text
}
