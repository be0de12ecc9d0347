/**
 * The order of ids after one was put at a position. Positions count from 1; one past the end means last. The others
 * keep their order.
 *
 * @param ids ids in the present order; `id` may be among them
 * @param position undefined leaves a known id at its position and puts a new one last
 */
export function placed(ids: readonly string[], id: string, position: number | undefined): string[] {
  if (position === undefined && ids.includes(id)) return [...ids]
  const others = ids.filter((other) => other !== id)
  return others.toSpliced((position ?? others.length + 1) - 1, 0, id)
}
