import { Fault } from '../language/fault.ts'
import { define, defineRepeated, optional, parameter } from './define.ts'
import { Decimal, INTEGER, LIST, NUMBER, toNumber } from './parameters.ts'

const a = parameter('a', NUMBER)
const b = parameter('b', NUMBER)
const n = parameter('n', NUMBER)

/** Digits after the point that a quotient keeps, and that `round` may keep. */
const QUOTIENT_PLACES = 20
const MAX_ROUND_DIGITS = 10

/** Functions of rules for exact decimal arithmetic. */
export const NUMBER_FUNCTIONS = {
  add: defineRepeated('number', a, 'The sum of all arguments.', (all) => toNumber(sum(all))),
  multiply: defineRepeated('number', a, 'The product of all arguments.', (all) =>
    toNumber(all.reduce((product, factor) => product.times(factor), new Decimal(1))),
  ),
  subtract: define('number', [a, b], '`a` less `b`.', ([left, right]) => toNumber(left.minus(right))),
  divide: define('number', [a, b], '`a` by `b`, to 20 places; faults when `b` is 0.', ([left, right]) =>
    toNumber(left.dividedBy(notZero(right)).toDecimalPlaces(QUOTIENT_PLACES)),
  ),
  modulo: define(
    'number',
    [a, b],
    'Remainder of `a` divided by `b`, with the sign of `a`; faults when `b` is 0.',
    ([left, right]) => toNumber(left.modulo(notZero(right))),
  ),
  round: define(
    'number',
    [n, optional('digits', INTEGER, 0)],
    'Rounded half away from zero, to 0-10 digits after the point.',
    ([number, digits]) => {
      if (digits < 0 || digits > MAX_ROUND_DIGITS) {
        throw new Fault('bad_number', `round keeps 0 to ${MAX_ROUND_DIGITS} digits.`)
      }
      return toNumber(number.toDecimalPlaces(digits))
    },
  ),
  floor: define('number', [n], 'The whole number at or below.', ([number]) => toNumber(number.floor())),
  ceil: define('number', [n], 'The whole number at or above.', ([number]) => toNumber(number.ceil())),
  abs: define('number', [n], 'The number without its sign.', ([number]) => toNumber(number.abs())),
  min: defineRepeated('number', a, 'The smallest argument.', (all) => toNumber(Decimal.min(...all))),
  max: defineRepeated('number', a, 'The largest argument.', (all) => toNumber(Decimal.max(...all))),
  sum: define(
    'number',
    [parameter('list', LIST)],
    'The sum of the elements of a list; 0 for an empty one.',
    ([list], { tick }) =>
      toNumber(
        sum(
          list.map((element) => {
            tick()
            return NUMBER.read(element)
          }),
        ),
      ),
  ),
}

function sum(numbers: readonly Decimal[]): Decimal {
  return numbers.reduce((total, number) => total.plus(number), new Decimal(0))
}

function notZero(divisor: Decimal): Decimal {
  if (divisor.isZero()) throw new Fault('divide_by_zero', 'A number cannot be divided by 0.')
  return divisor
}
