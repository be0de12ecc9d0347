import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { z } from 'zod'
import { type AttackedService, forwarded, startAttackedService } from './attackedService.ts'

const MIB = 1_048_576

let service: AttackedService

beforeAll(async () => {
  service = await startAttackedService()
})

afterAll(() => service.stop())

const answerOn = (socket: Socket) =>
  new Promise<string>((resolve) => {
    socket.on('data', (bytes) => resolve(bytes.toString('latin1')))
  })

/** An endpoint of the attacker that answers with values of the request. */
async function answering(body: string): Promise<string> {
  const answer = await fetch(`${service.creel.baseUrl}/api/v1/endpoints`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.attackersKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ responses: [{ headers: { 'Content-Type': 'text/xml' }, body }] }),
  })
  return `/hook/${z.looseObject({ id: z.string() }).parse(await answer.json()).id}`
}

const capture = (path: string, body: string) =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\n${forwarded}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )

test('an innocent bystander notices nothing of answers that insert long values and escape them', async () => {
  const path = await answering('<Said>{{ body }}</Said>')
  const long = capture(path, '<'.repeat(4 * MIB))
  await service.attackedBy(async () => {
    const answers = await Promise.all(service.many(6, long).map(answerOn))
    // The template's answer would be too long.
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 (?:200 [\s\S]*\{"ok":true\}|503 )/)
    await service.rounds(4)
  }, 400)
})

test('an innocent bystander notices nothing of answers with many placeholders', async () => {
  const path = await answering('{{ body.a }}{{ query.a }}'.repeat(150))
  const query = `?${'a=&'.repeat(15_000)}`
  const long = capture(`${path}${query}`, `{"a":"","b":[${'1,'.repeat(MIB / 2 - 100)}1]}`)
  await service.attackedBy(async () => {
    await Promise.all(service.many(3, long).map(answerOn))
    await service.rounds(4)
  }, 400)
})
