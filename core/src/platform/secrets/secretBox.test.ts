import { describe, expect, test } from 'bun:test'
import { createCipheriv, randomBytes } from 'node:crypto'
import { createSecretBox } from './secretBox.ts'

const [old, key] = [randomBytes(32), randomBytes(32)]

/** Seals in the format of 0.1.0: no key id, no owner. */
function bare(text: string, by: Uint8Array): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', by, nonce)
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), ciphertext])
}

describe('a sealed value', () => {
  test('is opened by its owner with any of the keys, and sealed with the newest', () => {
    const before = createSecretBox([old])
    const during = createSecretBox([key, old])
    const sealed = before.seal('päss', 'alice')
    expect(during.open(sealed, 'alice')).toBe('päss')
    expect(during.isCurrent(sealed)).toBe(false)
    const anew = during.seal('päss', 'alice')
    expect(during.isCurrent(anew)).toBe(true)
    expect(createSecretBox([key]).open(anew, 'alice')).toBe('päss')
    expect(() => before.open(anew, 'alice')).toThrow('does not have')
  })

  test('opens as nobody else’s, and not when a byte of it is another', () => {
    const box = createSecretBox([key])
    const sealed = box.seal('secret', 'alice')
    expect(() => box.open(sealed, 'charlie')).toThrow()
    for (let at = 0; at < sealed.length; at += 1) {
      const altered = Buffer.from(sealed)
      altered[at] = (altered[at] ?? 0) ^ 1
      expect(() => box.open(altered, 'alice')).toThrow()
    }
  })

  test('of 0.1.0 opens with whichever key sealed it', () => {
    const box = createSecretBox([key, old])
    expect(box.open(bare('first', old), 'alice')).toBe('first')
    expect(box.isCurrent(bare('first', old))).toBe(false)
    expect(() => box.open(bare('x', randomBytes(32)), 'alice')).toThrow('No key')
  })
})

test('marks are of the newest key, and every process knows those of the others while keys change', () => {
  expect(createSecretBox([key, old]).mark('x')).toBe(createSecretBox([key]).mark('x'))
  const steps = [[old], [old, key], [key, old], [key]] as const
  for (const [at, keys] of steps.entries()) {
    for (const beside of steps.slice(Math.max(0, at - 1), at + 2)) {
      const mark = createSecretBox([...beside]).mark('x')
      expect(createSecretBox([...keys]).knowsMark('x', mark)).toBe(true)
      expect(createSecretBox([...keys]).knowsMark('y', mark)).toBe(false)
    }
  }
  expect(createSecretBox([key]).mark('x')).not.toBe(createSecretBox([old]).mark('x'))
})
