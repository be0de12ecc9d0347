import { type CallFacts, decodeBase64 } from '../functions/index.ts'
import { Fault } from '../language/fault.ts'
import type { Call, CompiledArgument } from '../language/rule.ts'
import type { Value } from '../language/values.ts'
import type { Draft } from './draft.ts'
import type { Meter } from './meter.ts'

/** Everything that a computation may read. */
export interface CallContext {
  readonly draft: Draft
  readonly meter: Meter
  readonly facts: () => CallFacts
  /** The action's signing secret; null when it has none. */
  readonly secret: () => Uint8Array | null
  /** Keyed digest of a text, for `hash` steps; null without the key. */
  readonly hash: ((text: string) => string) | null
  /** Gets the targets of steps for storing that find something, as written; null if the rules are for deliveries. */
  readonly found: string[] | null
  /** The bytes to be sent; called after all other steps have run. */
  readonly raw: () => Uint8Array
}

/**
 * The result of a call, its arguments first.
 *
 * @throws Fault
 */
export function evaluate(call: Call, context: CallContext): Value {
  const values = call.args.map((argument) => argumentValue(argument, context))
  context.meter.checkTime()
  return call.called.call(values, context.facts())
}

function argumentValue(argument: CompiledArgument, context: CallContext): Value {
  switch (argument.kind) {
    case 'call':
      return evaluate(argument, context)
    case 'literal':
      return argument.value
    case 'path':
      return context.draft.valueAt(argument.path)
    case 'raw':
      return context.raw()
    case 'secret': {
      const secret = context.secret()
      if (secret === null) throw new Fault('no_secret', 'The action has no signing secret.')
      return argument.base64 ? decodeBase64(Buffer.from(secret).toString('utf8')) : secret
    }
  }
}
