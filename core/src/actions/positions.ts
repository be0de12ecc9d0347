/**
 * The order of ids after one was put at a position: 1-based, past the end means last, the others
 * keep their order.
 *
 * @param ids in the order that holds now; `id` may be among them
 * @param position undefined leaves a known id where it stands and puts a new one last
 */
export function placed(ids: readonly string[], id: string, position: number | undefined): string[] {
  if (position === undefined && ids.includes(id)) return [...ids]
  const others = ids.filter((other) => other !== id)
  return others.toSpliced((position ?? others.length + 1) - 1, 0, id)
}
