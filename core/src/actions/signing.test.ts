import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createSecretBox } from '../platform/secrets/index.ts'
import { signingColumns } from './signing.ts'

const secrets = createSecretBox([randomBytes(32)])
const workspaceId = 'w'
const now = new Date('2026-11-21T09:00:00Z')
const write = (secret: string | undefined, stored?: string) => {
  const columns = signingColumns(
    secret,
    stored === undefined ? undefined : { signingSecret: secrets.seal(stored, workspaceId) },
    {
      secrets,
      workspaceId,
      now,
    },
  )
  const open = (sealed: Buffer | null | undefined) => (sealed ? secrets.open(sealed, workspaceId) : sealed)
  return {
    ...columns,
    signingSecret: open(columns.signingSecret),
    previousSigningSecret: open(columns.previousSigningSecret),
  }
}

describe('signingColumns', () => {
  test('omitted leaves it', () => {
    expect(signingColumns(undefined, undefined, { secrets, workspaceId, now })).toEqual({})
  })

  test('the first secret has no old one', () => {
    expect(write('a'.repeat(16))).toMatchObject({
      signingSecret: 'a'.repeat(16),
      previousSigningSecret: null,
    })
  })

  test('a rotation keeps the old secret for 24 hours', () => {
    expect(write('new'.repeat(6), 'old'.repeat(6))).toEqual({
      signingSecret: 'new'.repeat(6),
      signingSecretSetAt: now,
      previousSigningSecret: 'old'.repeat(6),
      previousSigningSecretUntil: new Date('2026-11-22T09:00:00Z'),
    })
  })

  test('the same secret again is no rotation', () => {
    expect(write('same'.repeat(4), 'same'.repeat(4)).previousSigningSecret).toBeUndefined()
  })

  test('an empty string stops signing and forgets both', () => {
    expect(write('', 'old'.repeat(6))).toEqual({
      signingSecret: null,
      signingSecretSetAt: null,
      previousSigningSecret: null,
      previousSigningSecretUntil: null,
    })
  })
})
