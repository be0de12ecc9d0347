import { tracked } from '@trpc/server'
import { post, router, stream } from '../../../core/src/api/route.ts'
import { openStream } from '../../../core/src/streams/index.ts'
import { countEvents, countInput, Greeting, greetInput } from './schema.ts'

const COUNT_MAX = 3

/** A noun with one route and one stream, as a developer adds one. */
export const fixtureRoutes = router({
  greet: post('/api/v1/fixtures/{fixtureId}/greetings', {
    summary: 'Greet a fixture',
    input: greetInput,
    example: { word: 'hello' },
    output: Greeting,
    scope: 'read',
    narrows: true,
    tool: {
      name: 'greet_fixture',
      title: 'Greet a fixture',
      description: 'Greets a fixture with a word.',
      effect: 'reads',
    },
  }).mutation(({ input: { fixtureId, word } }) => ({ fixtureId, words: `${word}, ${fixtureId}` })),

  count: stream('/api/v1/fixtures/{fixtureId}/stream', {
    summary: 'Count a fixture',
    input: countInput,
    events: countEvents,
    narrows: true,
  }).subscription(({ ctx, input: { fixtureId, lastEventId } }) =>
    openStream(ctx, () => Promise.resolve(counted(fixtureId, Number(lastEventId ?? 0)))),
  ),
})

/** One event at a time: a stream that ends is opened again after the last of them. */
async function* counted(fixtureId: string, after: number) {
  const count = await Promise.resolve(after + 1)
  if (count <= COUNT_MAX) yield tracked(String(count), { kind: 'counted' as const, fixtureId, count })
}
