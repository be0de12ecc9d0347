import { type JsonNumber, numberText, significand } from '../json/index.ts'

/** Negative, zero or positive as `left` is less than, equal to or greater than `right`; exact at any length. */
export function compareNumbers(left: number | JsonNumber, right: number | JsonNumber): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  return compareSignificands(significand(numberText(left)), significand(numberText(right)))
}

function compareSignificands(left: string, right: string): number {
  const signs = signOf(left) - signOf(right)
  if (signs !== 0) return signs
  const order = compareSizes(left.replace('-', ''), right.replace('-', ''))
  return left.startsWith('-') ? -order : order
}

function signOf(significand: string): number {
  if (significand === '0') return 0
  return significand.startsWith('-') ? -1 : 1
}

/** Digits without needless zeros: the place of the first digit decides, then the digits, as text. */
function compareSizes(left: string, right: string): number {
  const [leftDigits = '', leftPower = '0'] = left.split('e')
  const [rightDigits = '', rightPower = '0'] = right.split('e')
  const leftPlace = BigInt(leftPower) + BigInt(leftDigits.length)
  const rightPlace = BigInt(rightPower) + BigInt(rightDigits.length)
  if (leftPlace !== rightPlace) return leftPlace < rightPlace ? -1 : 1
  return leftDigits < rightDigits ? -1 : leftDigits > rightDigits ? 1 : 0
}
