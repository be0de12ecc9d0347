import { isPlainObject } from '../../engine/json/index.ts'
import type { ProviderAnswer, Reading } from './kind.ts'

/** Temporary 4xx statuses: timeout, too early, too many requests. */
const PASSING = new Set([408, 425, 429])

/** Result of an answer that accepts the message. */
export const DELIVERED: Reading = { delivered: true, permanent: false, detail: null }

/**
 * Result of a refusal. It is permanent for every 4xx status that a retry cannot change.
 *
 * @param words the provider's message; if empty, the status is used
 */
export function refused(answer: ProviderAnswer, words: string): Reading {
  const { statusCode } = answer
  return {
    delivered: false,
    permanent: statusCode >= 400 && statusCode < 500 && !PASSING.has(statusCode),
    detail: words.trim() === '' ? `HTTP ${statusCode}` : words.trim(),
  }
}

/** 2xx is delivered; anything else is refused with the message that `words` finds in the body. */
export function readByStatus(answer: ProviderAnswer, words: (body: string) => string): Reading {
  return isSuccess(answer) ? DELIVERED : refused(answer, words(answer.body))
}

/** Whether the status is 200 to 299; the body is ignored. */
export const isSuccess = ({ statusCode }: ProviderAnswer): boolean => statusCode >= 200 && statusCode < 300

export function jsonObject(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isPlainObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A member of an object as text; `''` if it is not text. */
export function textMember(value: unknown, name: string): string {
  const member = isPlainObject(value) ? value[name] : undefined
  return typeof member === 'string' ? member : ''
}

/** A body's message: the one that `find` picks from its JSON, else the body itself without tags. */
export function wordsOfBody(body: string, find: (json: Readonly<Record<string, unknown>>) => string): string {
  const json = jsonObject(body)
  const found = json === undefined ? '' : find(json)
  return found === '' ? body.replace(/<[^<>]*>/g, ' ').replace(/\s+/g, ' ') : found
}
