/** Index of an id among rows, or where it would be inserted; the ids are in descending order. */
export function placeOf(rows: readonly { readonly id: number }[], id: number): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((rows[middle]?.id ?? 0) > id) from = middle + 1
    else to = middle
  }
  return from
}
