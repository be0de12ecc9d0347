import type { Endpoint } from '../trpc.ts'
import { isRecord, parsed } from '../words/json.ts'

type Rules = Endpoint['storeRules']

/** Names of headers in a text with one on each line. */
export function namesOf(text: string): string[] {
  return text
    .split('\n')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Rules as indented JSON; empty for none. */
export function textOfRules(rules: Rules): string {
  return rules.length === 0 ? '' : JSON.stringify(rules, null, 2)
}

/** Rules in a text; undefined while it is not a JSON list or object. */
export function rulesOf(text: string): Rules | undefined {
  if (text.trim() === '') return []
  const value = parsed(text)
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.every(isRecord) ? list : undefined
}

/** A pasted request: JSON, or else a text that is the body. */
export function sampleOf(text: string): unknown {
  return parsed(text) ?? { body: text }
}
