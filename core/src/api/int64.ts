/** Parses an int64 id. Null when it is out of range, or in another spelling (`01`). */
export function parseInt64(text: string | undefined): number | null {
  if (text === undefined || !/^(?:0|[1-9]\d{0,15})$/.test(text)) return null
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : null
}
