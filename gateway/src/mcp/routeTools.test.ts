import { expect, test } from 'bun:test'
import { ROUTES, type Route } from '@creel/core'
import { z } from 'zod'
import { argumentsOf, routeTools } from './routeTools.ts'

const route: Route = {
  name: 'pets.rename',
  restOnly: false,
  method: 'PUT',
  path: '/api/v1/pets/{petId}',
  summary: 'Rename a pet',
  input: z.object({ petId: z.string(), name: z.string(), shout: z.boolean().optional() }),
  output: z.object({ id: z.string() }),
  query: ['shout'],
  tool: {
    name: 'rename_pet',
    title: 'Rename',
    description: 'Renames a pet.',
    effect: 'adds',
    renamed: { name: 'title' },
    defaults: { shout: true },
  },
}

test('a declared tool is there with the arguments of its route', () => {
  expect(routeTools([route]).map(({ name, effect }) => [name, effect])).toEqual([['rename_pet', 'adds']])
  expect(z.toJSONSchema(z.object(argumentsOf(route)))).toMatchObject({
    properties: {
      petId: { type: 'string' },
      name: { type: 'string' },
      shout: { type: 'boolean', default: true },
    },
    required: ['petId', 'name'],
  })
})

test('names of tools are unique', () => {
  const names = routeTools().map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBe(ROUTES.filter(({ tool }) => tool !== undefined).length)
})
