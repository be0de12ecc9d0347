import { z } from 'zod'

/** A greeting of the fixture. */
export const Greeting = z
  .object({ fixtureId: z.string(), words: z.string().describe('What is said') })
  .meta({ id: 'FixtureGreeting' })

/** Input of a greeting. */
export const greetInput = z.object({
  fixtureId: z.string().max(40).describe('Id of the fixture'),
  word: z.string().max(40).describe('Word to greet with'),
})

/** Input of the stream. */
export const countInput = z.object({
  fixtureId: z.string().max(40).describe('Id of the fixture'),
  lastEventId: z.string().optional().describe('Id of the last event that was received'),
})

/** Events of the stream, by their names. */
export const countEvents = {
  counted: z.object({ fixtureId: z.string(), count: z.int() }).describe('One more'),
}
