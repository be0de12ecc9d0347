import type { CaptureSettings } from '@creel/core/capture'
import { OWN_ANSWER_HEADERS } from '@creel/core/endpoints'
import type { ReadyAnswer } from '../http/readyAnswer.ts'
import type { RequestHead } from '../http/requestHead.ts'
import { answerOf } from './captureAnswers.ts'

/** What a page may do with an answer: read all of it. */
const READABLE = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', '*']

/**
 * The answer to a preflight, which asks whether a page may send: any method and any header. `*` stands for every header
 * but `Authorization` (Fetch §4.10).
 */
export const PREFLIGHT = answerOf({
  status: 204,
  contentType: null,
  headers: [
    ['Access-Control-Allow-Origin', '*'],
    ['Access-Control-Allow-Methods', '*'],
    ['Access-Control-Allow-Headers', '*, Authorization'],
    ['Access-Control-Max-Age', '600'],
    ...OWN_ANSWER_HEADERS,
  ],
  body: '',
})

/** Whether a browser asks for leave of an endpoint that gives it. */
export function isAllowedPreflight({ method, fields }: RequestHead, { allowCors }: CaptureSettings): boolean {
  return (
    allowCors &&
    method === 'OPTIONS' &&
    fields.some(([name]) => name.toLowerCase() === 'access-control-request-method')
  )
}

const readable = new WeakMap<ReadyAnswer, ReadyAnswer>()

/** An answer as an endpoint gives it: to pages of any origin, if it allows them and the answer does not name another. */
export function allowed(answer: ReadyAnswer, settings: CaptureSettings | undefined): ReadyAnswer {
  if (settings?.allowCors !== true || answer.has('access-control-allow-origin')) return answer
  const known = readable.get(answer) ?? answer.with(READABLE)
  readable.set(answer, known)
  return known
}
