import { beforeAll, describe, expect, test } from 'bun:test'
import { type GithubApi, githubBody, githubDelivery, githubHeaders } from '../../support/githubApi.ts'
import { wrongParts } from '../../support/problems.ts'
import type { TestService } from '../../support/service.ts'
import {
  capturesOf,
  DROPPED,
  hoursAgo,
  isDropped,
  LISTED,
  reconciled,
  type Senders,
  sendAll,
  startSenders,
} from './support.ts'

/** Captures compared with what GitHub lists, on a stand-in of its API. */

let senders: Senders
let service: TestService
let github: GithubApi

beforeAll(async () => {
  senders = await startSenders()
  ;({ service, github } = senders)
})

describe('GitHub', () => {
  test(
    `of ${LISTED} deliveries the ${DROPPED} that never came are sent again, each once`,
    async () => {
      const from = hoursAgo(60).getTime()
      const all = Array.from({ length: LISTED }, (_, index) =>
        githubDelivery(
          index,
          new Date(from + index * 1000),
          isDropped(null, index) ? { status: 'failed to connect', status_code: 502 } : {},
        ),
      )
      github.deliveries.splice(0, github.deliveries.length, ...all)
      // Attempts that failed again, with ids of their own: the event is the same.
      for (const [index, delivery] of all.filter(isDropped).entries())
        if (index % 10 === 0)
          github.deliveries.push({
            ...githubDelivery(LISTED + index, hoursAgo(1)),
            guid: delivery.guid,
            redelivery: true,
            status_code: 502,
          })
      const endpoint = await service.alice.endpoint({ name: 'ci', provider: 'github' })
      github.target = endpoint.url
      await sendAll(
        all.filter((_delivery, index) => !isDropped(_delivery, index)),
        ({ guid }) => endpoint.send({ headers: githubHeaders(guid), body: githubBody(guid) }),
      )
      const run = await reconciled(endpoint, senders.githubOrder())
      expect(run).toMatchObject({
        state: 'done',
        complete: true,
        counts: {
          listed: LISTED,
          found: LISTED - DROPPED,
          missing: DROPPED,
          redelivered: DROPPED,
          captured: 0,
          refused: 0,
          outstanding: 0,
        },
      })
      const captures = await capturesOf(service, endpoint)
      expect(all.filter(({ guid }) => captures.get(guid) !== 1)).toEqual([])
      expect(captures.size).toBe(LISTED)
      expect([...github.asked.values()].filter((times) => times !== 1)).toEqual([])
      expect(github.asked.size).toBe(DROPPED)
    },
    { timeout: 300_000 },
  )

  test('events whose ids are not stored are known by their digests, also those that a rule faulted on', async () => {
    const from = hoursAgo(2).getTime()
    const all = Array.from({ length: 4 }, (_, index) => githubDelivery(index, new Date(from + index * 1000)))
    github.deliveries.splice(0, github.deliveries.length, ...all)
    github.asked.clear()
    const endpoint = await service.alice.endpoint({
      name: 'private ci',
      provider: 'github',
      dropHeaders: ['X-GitHub-Delivery'],
      storeRules: [{ op: 'remove', paths: ['body.sender'] }],
    })
    github.target = endpoint.url
    const [first, second, third, missing] = all
    const send = (guid = '', body = githubBody(guid)) => endpoint.send({ headers: githubHeaders(guid), body })
    await send(first?.guid)
    await send(second?.guid, 'not JSON')
    // A capture of the time before the setting.
    await service.alice.patch(endpoint.at(''), { dropHeaders: [] })
    await send(third?.guid)
    await service.alice.patch(endpoint.at(''), { dropHeaders: ['X-GitHub-Delivery'] })
    const run = await reconciled(endpoint, senders.githubOrder())
    expect(run).toMatchObject({
      state: 'done',
      counts: { listed: 4, found: 3, missing: 1, redelivered: 1, outstanding: 0 },
    })
    expect([...github.asked.keys()]).toEqual([missing?.guid ?? ''])
  })

  test('a secondary rate limit is waited for, and a delivery that is gone is counted', async () => {
    const old = githubDelivery(1, hoursAgo(2))
    const gone = githubDelivery(2, hoursAgo(2))
    github.deliveries.splice(0, github.deliveries.length, old, gone)
    github.asked.clear()
    const endpoint = await service.alice.endpoint({ provider: 'github' })
    github.target = endpoint.url
    let posts = 0
    github.interfere = ({ method }, response) => {
      if (method !== 'POST') return false
      posts += 1
      if (posts === 1) {
        const reset = Math.ceil(Date.now() / 1000) + 1
        response.writeHead(403, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(reset) })
        response.end('{"message":"You have exceeded a secondary rate limit."}')
        return true
      }
      if (posts === 3) {
        response.writeHead(404).end('{"message":"Not Found"}')
        return true
      }
      return false
    }
    const run = await reconciled(endpoint, senders.githubOrder())
    github.interfere = undefined
    expect(run).toMatchObject({
      state: 'done',
      counts: { listed: 2, missing: 2, redelivered: 1, refused: 1, outstanding: 1 },
    })
    expect([...github.asked.values()]).toEqual([1])
  })

  test('no link of an answer leads to another host, and no address outside of the hooks is taken', async () => {
    const endpoint = await service.alice.endpoint({ provider: 'github' })
    const refused = async (hookUrl: string) =>
      wrongParts(
        await service.alice.post(
          endpoint.at('/reconcile'),
          senders.githubOrder({ credentials: { token: 't', hookUrl } }),
        ),
      )
    for (const hookUrl of [
      'https://api.github.com/repos/octo/app/hooks/7',
      `${github.url}.evil.test/repos/octo/app/hooks/7`,
      `${github.url}/user`,
      `${github.url}/repos/octo/../hooks/7`,
      `${github.url}/repos/octo/app/hooks/7?x=1`,
      `${github.url}/repos/octo/app/hooks/7/deliveries`,
    ])
      expect(await refused(hookUrl)).toEqual(['#/credentials/hookUrl bad_url'])
  })
})
