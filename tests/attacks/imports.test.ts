import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { z } from 'zod'
import { anHourAgo } from '../support/clock.ts'
import { ATTACKER, type AttackedService, forwarded, startAttackedService } from './attackedService.ts'

/** Imports with a write key, all at once, of lines that take long to read. */

let service: AttackedService

beforeAll(async () => {
  service = await startAttackedService()
})

afterAll(() => service.stop())

const good = { receivedAt: anHourAgo(), method: 'POST' }
const IMPORTS = 3
const SHOWN_BYTES = 65_536

const pathOf = () => `/api/v1/endpoints/${service.attackedPath.split('/').at(-1)}/requests`

/** Sends an import and returns the answer. */
async function imported(bytes: Buffer): Promise<{ status: number; text: string }> {
  const head = `POST ${pathOf()}/import HTTP/1.1\r\n${forwarded}Authorization: Bearer ${service.attackersKey}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${bytes.length}\r\n\r\n`
  const socket = service.dial(head)
  socket.write(bytes)
  const text = await answerOf(socket)
  return { status: Number(text.split(' ')[1]), text }
}

/** Reads the answer. A refusal comes before the end of the body, so sending the rest may fail. */
function answerOf(socket: Socket): Promise<string> {
  let text = ''
  return new Promise((resolve) => {
    socket.on('data', (bytes) => {
      if (text.length < SHOWN_BYTES) text += bytes.toString()
      if (/\r\n\r\n.*\}$/s.test(text)) resolve(text)
    })
    socket.once('close', () => resolve(text))
  })
}

async function storedCount(): Promise<number> {
  const page = await fetch(`${service.creel.baseUrl}${pathOf()}?pageSize=1`, {
    headers: { Authorization: `Bearer ${service.attackersKey}`, 'X-Forwarded-For': ATTACKER },
  })
  return z.looseObject({ totalCount: z.int() }).parse(await page.json()).totalCount
}

const firstLine = `${JSON.stringify(good)}\n`
const members = () => `{${Array.from({ length: 2_500_000 }, (_, at) => `"m${at}":1`).join(',')}}`

describe('an innocent bystander notices nothing of imports', () => {
  test.each([
    ['30 MB of [', () => '['.repeat(30_000_000), 2, 'too_deep'],
    ['50 MB of empty lines', () => '\n'.repeat(50_000_000), 10_003, 'too_many'],
    ['a line of 2.5 million members', members, 2, 'too_many'],
    ['a line of 60 MB', () => JSON.stringify({ ...good, body: 'x'.repeat(60_000_000) }), 2, 'too_long'],
    [
      'a line of 30 MB beside its body',
      () => JSON.stringify({ ...good, label: 'x'.repeat(30_000_000) }),
      2,
      'too_long',
    ],
  ])('of %s, which are refused with the number of the line', async (_what, lines, number, code) => {
    const bytes = Buffer.from(firstLine + lines())
    let answers: readonly { status: number; text: string }[] = []
    await service.attackedBy(async () => {
      answers = await Promise.all(Array.from({ length: IMPORTS }, () => imported(bytes)))
    })
    expect(answers.length).toBe(IMPORTS)
    for (const { status, text } of answers) {
      expect(status).toBe(400)
      expect(text).toContain(`"pointer":"#/lines/${number}"`)
      expect(text).toContain(`"code":"${code}"`)
      expect(text).toContain('Nothing was stored.')
    }
    expect(await storedCount()).toBe(0)
  })

  test('of long lines and of many lines that are right', async () => {
    const escapes = `{"receivedAt":"${good.receivedAt}","method":"POST","body":"${'\\u0041'.repeat(2_000_000)}"}\n`
    const base64 = `${JSON.stringify({ ...good, body: 'A'.repeat(20_000_000), bodyEncoding: 'base64' })}\n`
    const bytes = [Buffer.from(escapes), Buffer.from(base64), Buffer.from(firstLine.repeat(10_000))]
    const before = await storedCount()
    await service.attackedBy(async () => {
      const answers = await Promise.all(bytes.map(imported))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    })
    expect(await storedCount()).toBe(before + 10_002)
  })
})
