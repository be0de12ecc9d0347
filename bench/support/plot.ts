import { type Figure, readable } from './report.ts'

const BAR_HEIGHT = 18
const GAP = 8
const LABEL_WIDTH = 420
const BAR_WIDTH = 420
const TITLE_HEIGHT = 40

/**
 * A bar chart of figures against their goals. A bar that reaches the line meets its goal. Figures without a goal are
 * left out.
 */
export function plotOfGoals(figures: readonly Figure[]): string {
  const bars = figures.flatMap((figure) => {
    const { goal, value } = figure
    if (goal === undefined || value <= 0) return []
    return [{ figure, share: 'atLeast' in goal ? value / goal.atLeast : goal.atMost / value }]
  })
  const height = TITLE_HEIGHT + bars.length * (BAR_HEIGHT + GAP) + GAP
  const line = LABEL_WIDTH + BAR_WIDTH / 2
  const rows = bars.map(({ figure, share }, at) => {
    const y = TITLE_HEIGHT + at * (BAR_HEIGHT + GAP)
    // The goal is in the middle; a figure twice as good fills the width.
    const width = Math.max(2, Math.min(1, share / 2) * BAR_WIDTH)
    const colour = share >= 1 ? '#2f855a' : '#c05621'
    return [
      `<text x="${LABEL_WIDTH - 8}" y="${y + 13}" text-anchor="end">${escaped(`${figure.group}: ${figure.name}`)}</text>`,
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" fill="${colour}"/>`,
      `<text x="${LABEL_WIDTH + 6}" y="${y + 13}" fill="#fff">${escaped(`${readable(figure.value)} ${figure.unit}`)}</text>`,
    ].join('')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${LABEL_WIDTH + BAR_WIDTH + 20}" height="${height}" font-family="sans-serif" font-size="12">`,
    '<title>Figures of Creel against their goals</title>',
    `<rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="${line}" y="24" text-anchor="middle">goal</text>`,
    ...rows,
    `<line x1="${line}" x2="${line}" y1="30" y2="${height - GAP}" stroke="#1a202c" stroke-dasharray="4 3"/>`,
    '</svg>\n',
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
