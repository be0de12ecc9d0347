import { isJsonArray, isJsonNumber, isJsonObject, type JsonValue, numberText } from './value.ts'

/** RFC 8785 text. Two documents have the same text exactly when they are equal. */
export function canonicalJson(value: JsonValue): string {
  if (isJsonNumber(value)) return canonicalNumber(numberText(value))
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  // RFC 8785 §3.2.3 orders names by UTF-16 code unit, which is what the default sort does.
  const names = [...value.keys()].sort()
  const members = names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value.get(name) ?? null)}`)
  return `{${members.join(',')}}`
}

/**
 * RFC 8785 prints numbers as doubles and leaves numbers that no double can hold to the caller. Here they keep their
 * digits, so that two ids above 2^53 never compare as equal.
 */
function canonicalNumber(text: string): string {
  const double = Number(text)
  const printed = String(double)
  if (!Number.isFinite(double) || significand(printed) !== significand(text)) return significand(text)
  return double === 0 ? '0' : printed
}

/** Sign, digits and power of ten of a number's text, without needless zeros: the same for equal numbers. */
export function significand(text: string): string {
  const [mantissa = '', power = '0'] = text.toLowerCase().split('e')
  const negative = mantissa.startsWith('-')
  const [whole = '', fraction = ''] = (negative ? mantissa.slice(1) : mantissa).split('.')
  const digits = withoutLeadingZeros(whole + fraction)
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') end -= 1
  if (end === 0) return '0'
  const exponent = powerOfTen(power) - BigInt(fraction.length) + BigInt(digits.length - end)
  return `${negative ? '-' : ''}${digits.slice(0, end)}e${exponent}`
}

/** The written exponent, cut after 30 digits: BigInt takes more than linear time to read one. */
function powerOfTen(power: string): bigint {
  const size = BigInt(withoutLeadingZeros(power.replace(/^[+-]/, '')).slice(0, 30) || '0')
  return power.startsWith('-') ? -size : size
}

function withoutLeadingZeros(digits: string): string {
  let start = 0
  while (start < digits.length && digits[start] === '0') start += 1
  return digits.slice(start)
}
