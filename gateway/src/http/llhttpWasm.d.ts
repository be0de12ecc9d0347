/** Node.js' HTTP parser, compiled to WebAssembly. undici ships it for its own client. */
declare module 'undici/lib/llhttp/llhttp_simd-wasm.js' {
  const wasm: Uint8Array<ArrayBuffer>
  export = wasm
}
