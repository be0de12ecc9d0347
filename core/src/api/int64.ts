/** The int64 that text means, or null: out of range, or in another spelling (`01`), it is not an id. */
export function parseInt64(text: string | undefined): number | null {
  if (text === undefined || !/^(?:0|[1-9]\d{0,15})$/.test(text)) return null
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : null
}
