/** The bytes of a text, in UTF-8. */
export const bytesOfText = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** The bytes of a file. */
export const bytesOfFile = async (path: string): Promise<Uint8Array<ArrayBuffer>> =>
  await Bun.file(path).bytes()
