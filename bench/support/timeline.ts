/** One sample of a {@link timeline}: a value at a time. */
export interface Sample {
  /** Seconds since the start. */
  readonly at: number
  readonly value: number
}

/** Times at which something happened, drawn as lines across the plot. */
export interface Marks {
  readonly name: string
  readonly colour: string
  /** Seconds since the start. */
  readonly at: readonly number[]
}

const WIDTH = 860
const HEIGHT = 260
const LEFT = 60
const TOP = 50
const BOTTOM = 30

/**
 * A plot of samples over time, as SVG. The vertical axis is logarithmic, so that a stall and the usual value both show.
 *
 * @param unit of the samples' values
 */
export function timeline(
  title: string,
  unit: string,
  samples: readonly Sample[],
  marks: readonly Marks[],
): string {
  const seconds = Math.max(1, ...samples.map(({ at }) => at))
  const top = 10 ** Math.ceil(Math.log10(Math.max(10, ...samples.map(({ value }) => value))))
  const decades = Math.log10(top)
  const x = (at: number) => (LEFT + (at / seconds) * (WIDTH - LEFT - 20)).toFixed(1)
  const y = (value: number) =>
    (TOP + (1 - Math.log10(Math.max(1, value)) / decades) * (HEIGHT - TOP - BOTTOM)).toFixed(1)
  const grid = Array.from({ length: decades + 1 }, (_, power) => 10 ** power).map(
    (value) =>
      `<line x1="${LEFT}" x2="${WIDTH - 20}" y1="${y(value)}" y2="${y(value)}" stroke="#e2e8f0"/>` +
      `<text x="${LEFT - 6}" y="${Number(y(value)) + 4}" text-anchor="end">${value} ${unit}</text>`,
  )
  const minutes = Array.from({ length: Math.floor(seconds / 60) + 1 }, (_, minute) => minute).map(
    (minute) => `<text x="${x(minute * 60)}" y="${HEIGHT - 10}" text-anchor="middle">${minute} min</text>`,
  )
  const lines = marks.flatMap(({ colour, at }) =>
    at.map(
      (one) => `<line x1="${x(one)}" x2="${x(one)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="${colour}"/>`,
    ),
  )
  const legend = marks.map(
    ({ name, colour, at }, index) =>
      `<text x="${LEFT + index * 220}" y="42" fill="${colour}">${name}: ${at.length}</text>`,
  )
  const path = samples.map(({ at, value }) => `${x(at)},${y(value)}`).join(' ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<text x="${LEFT}" y="22" font-size="14">${title}</text>`,
    ...grid,
    ...minutes,
    ...lines,
    ...legend,
    `<polyline points="${path}" fill="none" stroke="#2b6cb0" stroke-width="1.5"/>`,
    '</svg>\n',
  ].join('\n')
}
