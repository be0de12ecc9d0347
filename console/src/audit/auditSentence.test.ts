import { expect, test } from 'bun:test'
import { differencesOf, type Entry, sentenceOf } from './auditSentence.ts'

const entry = (change: Partial<Entry>): Entry => ({
  id: 1,
  at: '2026-11-22T14:03:22.000Z',
  actor: { kind: 'key', id: null, name: 'ci', address: '203.0.113.9' },
  traceId: null,
  action: 'actions.update',
  subject: { type: 'action', id: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10', name: 'Billing' },
  endpointId: null,
  before: null,
  after: null,
  ...change,
})

const wordsOf = (change: Partial<Entry>, endpointName?: string) => {
  const { actor, verb, subject } = sentenceOf(entry(change), endpointName)
  return [actor, verb, subject].filter((part) => part !== '').join(' ')
}

test('an entry is a sentence: actor, verb, name', () => {
  expect(wordsOf({})).toBe('Key ci changed the action Billing')
  const service = { kind: 'service', id: null, name: 'creel', address: null } as const
  expect(wordsOf({ actor: service, action: 'transformations.disable' })).toStartWith('Creel switched off')
  const link = { actor: { ...service, kind: 'session', name: 'owner' }, action: 'sessions.start' } as const
  expect(wordsOf(link)).toBe('Owner signed in')
})

test('requests are counted, and belong to their endpoint', () => {
  const subject = { type: 'endpoint', id: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10', name: null }
  const moved = { action: 'requests.bulkDelete', subject, before: {}, after: { deletedCount: 1 } }
  expect(wordsOf(moved, 'orders')).toBe('Key ci moved to the recycle bin: 1 request of orders')
  expect(wordsOf({ ...moved, after: { deletedCount: 12 } })).toEndWith('12 requests of 5b1c2f6e')
})

test('a share link is named by its request', () => {
  const subject = { type: 'shareLink', id: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10', name: null }
  const shared = { action: 'shareLinks.create', subject, after: { requestId: 4376 } }
  expect(wordsOf(shared, 'orders')).toBe('Key ci shared request #4376')
  expect(
    wordsOf({ ...shared, action: 'shareLinks.revoke', before: { requestId: 7 }, after: null }),
  ).toEndWith('revoked a share link of request #7')
})

test('a request is named by its id', () => {
  const subject = { type: 'request', id: '12', name: null }
  expect(wordsOf({ action: 'requests.update', subject })).toBe('Key ci changed the note of request #12')
})

test('an action without words is named as in the API', () => {
  expect(wordsOf({ action: 'boxes.open' })).toBe('Key ci did boxes.open on Billing')
})

test('differences name each member, nested ones by path, and leave out what is empty', () => {
  const before = { url: 'https://a', auth: { kind: 'none' }, tls: null, ports: [1] }
  const after = { url: 'https://b', auth: { kind: 'bearer', token: '•••' }, tls: null, ports: [1] }
  expect(differencesOf(entry({ before, after }))).toEqual([
    { path: 'url', change: 'changed', before: 'https://a', after: 'https://b' },
    { path: 'auth.kind', change: 'changed', before: 'none', after: 'bearer' },
    { path: 'auth.token', change: 'added', before: null, after: '•••' },
  ])
  expect(differencesOf(entry({ after: { name: 'x', label: '', list: [], on: false } }))).toEqual([
    { path: 'name', change: 'added', before: null, after: 'x' },
    { path: 'on', change: 'added', before: null, after: 'false' },
  ])
})
