import { expect, test } from 'bun:test'
import { evaluate, evaluationLimit } from './replaySlot.ts'

const workspace = { id: 'a', name: 'A' }
const mend = { path: ['actionId'], code: 'required' } as const
/** Half of it, and more, was spent on its conditions. */
const limit = { seconds: 30, mend, workedMs: 20_000 }

function* ended(): Generator<void, string> {
  yield
  return 'done'
}

/** Conditions that never end. Calls `first` after the first piece. */
function* endless(first: () => void): Generator<void, void> {
  yield
  first()
  for (;;) yield
}

const byHand = () => {
  const controller = new AbortController()
  return { isOver: controller.signal, end: () => controller.abort() }
}

test('conditions that take too long are refused, and give their turn to others', async () => {
  const { isOver, end } = byHand()
  const ctx = { workspace, signal: new AbortController().signal }
  const long = evaluate(ctx, endless(end), { ...limit, isOver })
  const short = evaluate(ctx, ended(), evaluationLimit(30, mend))
  await expect(long).rejects.toMatchObject({ code: 'validation_failed', more: { issues: [mend] } })
  expect(await short).toBe('done')
})

test('who has mostly waited for others may call again', async () => {
  const { isOver, end } = byHand()
  const ctx = { workspace, signal: new AbortController().signal }
  const waited = evaluate(ctx, endless(end), { ...limit, workedMs: 0, isOver })
  await expect(waited).rejects.toMatchObject({ code: 'unavailable', more: { retryAfterSeconds: 30 } })
})

test('conditions are not evaluated any longer for a caller who has hung up', async () => {
  const { isOver: signal, end } = byHand()
  const isOver = new AbortController().signal
  const evaluated = evaluate({ workspace, signal }, endless(end), { ...limit, isOver })
  await expect(evaluated).rejects.toMatchObject({ name: 'AbortError' })
})
