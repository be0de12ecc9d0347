import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { newKey } from '../keys/index.ts'
import { CellsFileError, parseCells } from './cell.ts'
import { cellOfId, cellOfKey, newId } from './hints.ts'

const cell = fc.record({ name: fc.constant('one'), number: fc.integer({ min: 1, max: 4095 }) })

test('an id and a key name their cell, and none without cells', () => {
  fc.assert(
    fc.property(cell, (place) => {
      expect(cellOfId(newId(place))).toBe(place.number)
      expect(newId(place)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(cellOfKey(newKey('key', place).key)).toBe(place.number)
    }),
  )
  expect(cellOfId(newId(null))).toBeNull()
  expect(cellOfKey(newKey('key', null).key)).toBeNull()
})

const one = { name: 'one', number: 1, databaseUrl: 'postgres://db1/creel' }

test('a file of cells is read with its defaults', () => {
  expect(parseCells(JSON.stringify({ cells: [one] }))).toEqual([{ ...one, readUrl: null, weight: 1 }])
})

test('everything that is wrong with a file is named', () => {
  const mistakes = (cells: unknown) => {
    try {
      parseCells(JSON.stringify({ cells }))
    } catch (error) {
      if (error instanceof CellsFileError) return error.mistakes
    }
    return []
  }
  expect(mistakes([{ ...one, name: 'One', number: 5000 }])).toEqual([
    expect.stringContaining('cells.0.name must be'),
    expect.stringContaining('cells.0.number'),
  ])
  expect(mistakes([one, one])).toEqual([
    'cells.1.name is that of another cell',
    'cells.1.number is that of another cell',
    'cells.1.databaseUrl is that of another cell',
  ])
  expect(() => parseCells('{')).toThrow('is not JSON')
})
