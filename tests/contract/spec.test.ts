import { describe, expect, test } from 'bun:test'
import { ROUTES } from '@creel/core'
import { ROUTES_OF_SPEC } from './routesOfSpec.ts'

/** Declared routes without parameter names: parameters are compared by position. */
const declared = ROUTES.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)

describe('the router', () => {
  test('serves every operation that the spec names, and no other', () => {
    expect([...declared].sort()).toEqual([...ROUTES_OF_SPEC].sort())
  })

  test('declares each operation once, under one name', () => {
    expect(new Set(declared).size).toBe(declared.length)
    expect(new Set(ROUTES.map(({ name }) => name)).size).toBe(ROUTES.length)
  })
})
