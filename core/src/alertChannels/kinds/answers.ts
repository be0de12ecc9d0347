import { isPlainObject } from '../../engine/plainObject.ts'
import type { ProviderAnswer, Reading } from './kind.ts'

/** Statuses that may go away by themselves although they are 4xx: timeout, too early, too many requests. */
const PASSING = new Set([408, 425, 429])

/** The reading of an answer that accepts the message. */
export const DELIVERED: Reading = { delivered: true, permanent: false, detail: null }

/**
 * A refusal: permanent for any 4xx that another attempt cannot change.
 *
 * @param words the provider's; when empty, the status stands in for them
 */
export function refused(answer: ProviderAnswer, words: string): Reading {
  const { statusCode } = answer
  return {
    delivered: false,
    permanent: statusCode >= 400 && statusCode < 500 && !PASSING.has(statusCode),
    detail: words.trim() === '' ? `HTTP ${statusCode}` : words.trim(),
  }
}

/** 2xx is delivered; anything else is refused in the words that `words` finds in the body. */
export function readByStatus(answer: ProviderAnswer, words: (body: string) => string): Reading {
  return isSuccess(answer) ? DELIVERED : refused(answer, words(answer.body))
}

/** Whether the status is 200 to 299; the body is not looked at. */
export const isSuccess = ({ statusCode }: ProviderAnswer): boolean => statusCode >= 200 && statusCode < 300

/** A body as a JSON object; undefined when it is none. */
export function jsonObject(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A member of an object as text; `''` when it is something else. */
export function textMember(value: unknown, name: string): string {
  const member = isPlainObject(value) ? value[name] : undefined
  return typeof member === 'string' ? member : ''
}

/** A body's words: those that `find` picks from its JSON, else the body itself without tags. */
export function wordsOfBody(body: string, find: (json: Readonly<Record<string, unknown>>) => string): string {
  const json = jsonObject(body)
  const found = json === undefined ? '' : find(json)
  return found === '' ? body.replace(/<[^<>]*>/g, ' ').replace(/\s+/g, ' ') : found
}
