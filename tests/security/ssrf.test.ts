import { beforeAll, describe, expect, test } from 'bun:test'
import { Client, type TestEndpoint } from '../support/client.ts'
import { startService, type TestService } from '../support/service.ts'

/**
 * Addresses that the service must not call for a workspace, in spellings that have fooled other guards. The guard's
 * handling of each class of address, and its check at connect time, are tested next to it and in tests/outbound.
 */

let service: TestService
let endpoint: TestEndpoint

beforeAll(async () => {
  service = await startService({
    allowDestinations: [],
    limits: { apiRatePerMinute: 1_000_000, alertChannelsMax: 500 },
  })
  endpoint = await service.alice.endpoint()
})

const FORBIDDEN = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://127.0.0.1.:80/',
  'http://0/',
  'http://0.0.0.0:5432/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[::ffff:169.254.169.254]/',
  'http://2852039166/',
  'http://100.100.100.200/',
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.0.1/',
  'http://100.64.0.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://①②⑦.⓪.⓪.①/',
  'http://user:pass@example.com/',
  'http://example.com#@127.0.0.1/',
  'http://127.0.0.1\\@example.com/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'javascript:alert(1)',
  '//127.0.0.1/',
  'http:///127.0.0.1/',
  'http://',
  '',
] as const

/** Every place that takes a URL. */
const PLACES: Readonly<Record<string, (url: string) => Promise<{ status: number; text: string }>>> = {
  'a forward action': (url) => service.alice.post(endpoint.at('/actions'), { kind: 'forward', url }),
  'a webhook channel': (url) =>
    service.alice.post('/api/v1/alert-channels', { kind: 'webhook', name: 'w', settings: { url } }),
  'an ntfy server': (serverUrl) =>
    serverUrl === ''
      ? Promise.resolve({ status: 400, text: 'not asked: empty is the default' })
      : service.alice.post('/api/v1/alert-channels', {
          kind: 'ntfy',
          name: 'n',
          settings: { serverUrl: serverUrl.replace(/^http:/, 'https:'), topic: 't' },
        }),
  'a Slack webhook': (secret) =>
    secret === ''
      ? Promise.resolve({ status: 400, text: 'not asked: empty is none' })
      : service.alice.post('/api/v1/alert-channels', { kind: 'slack', name: 's', secret }),
}

describe.each(Object.keys(PLACES))('%s', (place) => {
  test('refuses every address that is not public, however it is spelled', async () => {
    const taken: string[] = []
    for (const url of FORBIDDEN) {
      const { status, text } = (await PLACES[place]?.(url)) ?? { status: 0, text: '' }
      if (status !== 400) taken.push(`${url}: ${status} ${text.slice(0, 80)}`)
    }
    expect(taken).toEqual([])
  })
})

describe('our own hosts', () => {
  test('are no destination, even where loopback is allowed', async () => {
    const { alice, baseUrl, captureUrl } = await startService({ allowDestinations: ['127.0.0.0/8'] })
    const own = await alice.endpoint()
    for (const url of [baseUrl, `${captureUrl}/hook/${own.id}`, baseUrl.replace('127.0.0.1', '127.0.0.1.')]) {
      const answer = await alice.post(own.at('/actions'), { kind: 'forward', url })
      expect([url, answer.status]).toEqual([url, 400])
    }
  })
})

describe('the setting that allows a private address', () => {
  const url = 'http://127.0.0.1:9/hooks'
  const details = async (target: TestService, own: TestEndpoint) => [
    (await target.alice.post(own.at('/actions'), { kind: 'forward', url })).text,
    (await target.alice.patch(own.at(''), { forwardUrl: url })).text,
  ]

  test("is named to callers on the operator's own machine", async () => {
    for (const detail of await details(service, endpoint))
      expect(detail).toContain('CREEL_ALLOW_DESTINATIONS')
  })

  test('is not named where the API is reached from elsewhere', async () => {
    const baseUrl = 'https://creel.example.test'
    const remote = await startService({ allowDestinations: [], baseUrl })
    const client = new Client(
      `http://127.0.0.1:${remote.running.port}`,
      remote.captureUrl,
      remote.alice.key,
      '',
    )
    const answer = await client.post('/api/v1/endpoints', { forwardUrl: url })
    expect([answer.status, answer.text]).toEqual([400, expect.not.stringContaining('CREEL_')])
  })
})
