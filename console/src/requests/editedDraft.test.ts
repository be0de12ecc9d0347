import { expect, test } from 'bun:test'
import type { RequestDetail } from '../trpc.ts'
import { changedLines, draftOfRequest, laidOut, membersOfDraft } from './editedDraft.ts'

const request: RequestDetail = {
  id: 7,
  endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
  receivedAt: '2026-11-22T10:00:00.000Z',
  method: 'POST',
  path: '/x',
  contentType: 'application/json',
  sizeBytes: 30,
  ip: null,
  userAgent: null,
  label: null,
  eventId: null,
  senderAttempt: null,
  firstRequestId: null,
  duplicateOf: null,
  redacted: false,
  redactedPaths: [],
  columns: {},
  note: null,
  redactionFault: null,
  sealed: false,
  shredded: false,
  originalUntil: null,
  answeredBy: null,
  bodyTruncated: false,
  bodyIsBinary: false,
  bodyPreview: null,
  verification: null,
  state: 'NotAttempted',
  attemptCount: 0,
  deliveryCounts: { succeeded: 0, failed: 0, waiting: 0, deadLettered: 0 },
  imported: false,
  reconciled: false,
  url: 'http://localhost/hook/x',
  queryString: null,
  query: {},
  headers: {},
  rawHeaders: [
    { name: 'Host', value: 'localhost' },
    { name: 'X-A', value: 'one: two' },
    { name: 'X-A', value: 'three' },
    { name: 'creel-hops', value: '1' },
  ],
  body: '{"a":1.10,"b":[1,2]}',
  bodyOmitted: false,
  bodyKind: 'json',
  decodedBody: null,
  deliveries: [],
}

test('a draft that nobody touched changes nothing, and keeps what is passed on', () => {
  const draft = draftOfRequest(request, 'id')
  expect(draft.headers).toBe('X-A: one: two\nX-A: three')
  expect(changedLines(draft, request)).toBe(0)
  expect(changedLines({ ...draft, body: laidOut(draft.body) ?? '' }, request)).toBe(0)
  expect(membersOfDraft(draft, request)).toEqual({
    actionId: 'id',
    method: 'POST',
    headers: [
      { name: 'X-A', value: 'one: two' },
      { name: 'X-A', value: 'three' },
    ],
    body: '{"a":1.10,"b":[1,2]}',
    sign: true,
    transform: true,
  })
})

test('changed lines are counted over method, headers and members of the body', () => {
  const draft = draftOfRequest(request)
  expect(changedLines({ ...draft, body: '{"a":1.1,"b":[1,2]}' }, request)).toBe(1)
  expect(changedLines({ ...draft, method: 'PUT', headers: 'X-A: three' }, request)).toBe(2)
})

test('a body that cannot be written here is left as captured', () => {
  const binary = { ...request, bodyIsBinary: true, body: 'AA==' }
  expect(membersOfDraft(draftOfRequest(binary), binary)).not.toHaveProperty('body')
})

test('laying out keeps digits, order and repeats', () => {
  expect(laidOut('{"b":1.10,"a":{},"b":[1e2]}')).toBe(
    '{\n  "b": 1.10,\n  "a": {},\n  "b": [\n    1e2\n  ]\n}',
  )
  expect(laidOut('a=1')).toBeNull()
})
