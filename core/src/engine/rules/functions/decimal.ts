import { Decimal as AnyDecimal } from 'decimal.js'
import { type JsonNumber, numberFromText } from '../../json/index.ts'
import { Fault } from '../language/fault.ts'

/** Exact decimals, 40 digits, half away from zero. */
export const Decimal = AnyDecimal.clone({ precision: 40, rounding: AnyDecimal.ROUND_HALF_UP, defaults: true })
/** An exact decimal number. */
export type Decimal = InstanceType<typeof Decimal>

/** The most digits on either side of the point, since numbers are printed without exponent. */
const MAX_PLACES = 1000

/**
 * The number that a text spells; the text must be a JSON number.
 *
 * @throws Fault `bad_number` for more than a thousand digits before or after the point
 */
export function decimalOf(text: string): Decimal {
  if (text.length > 4 * MAX_PLACES) throw tooLong()
  return checked(new Decimal(text))
}

/** A result as JSON: plain digits, no exponent, no needless zeros. */
export function toNumber(decimal: Decimal): number | JsonNumber {
  const text = checked(decimal).toFixed()
  return numberFromText(text === '-0' ? '0' : text)
}

function checked(decimal: Decimal): Decimal {
  if (!decimal.isFinite() || Math.abs(decimal.e) > MAX_PLACES || decimal.decimalPlaces() > MAX_PLACES)
    throw tooLong()
  return decimal
}

function tooLong(): Fault {
  return new Fault('bad_number', `A number has at most ${MAX_PLACES} digits before and after the point.`)
}
