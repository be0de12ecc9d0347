import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { creelSignature } from './index.ts'

const body = new TextEncoder().encode('{"id":1}')
const at = new Date('2026-11-21T09:15:00.900Z')
const mac = (secret: string) => createHmac('sha256', secret).update('1795252500.{"id":1}').digest('hex')

test('signs the second of the attempt and the body', () => {
  expect(creelSignature(body, ['a'.repeat(16)], at)).toBe(`t=1795252500,v1=${mac('a'.repeat(16))}`)
})

test('after a rotation the previous secret signs too', () => {
  expect(creelSignature(body, ['new', 'old'], at)).toBe(`t=1795252500,v1=${mac('new')},v1=${mac('old')}`)
})
