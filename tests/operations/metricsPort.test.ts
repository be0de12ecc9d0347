import { expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/freePort.ts'
import { startProcess } from '../support/process.ts'

test('CREEL_METRICS_PORT serves metrics and health on a port of its own, and no longer beside the API', async () => {
  const database = await createTestDatabase()
  const port = await freePort()
  const creel = await startProcess({
    database,
    env: { CREEL_METRICS_PORT: String(port), CREEL_LOG_LEVEL: 'info' },
  })
  const statusOf = (url: string) => fetch(url).then(({ status }) => status)

  expect(await statusOf(`http://127.0.0.1:${port}/metrics`)).toBe(200)
  // Every series that an alert rule watches exists from the start: Prometheus sees no increase in a new series.
  const scraped = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  for (const series of [
    'creel_captures_total{outcome="unavailable"}',
    'creel_delivery_attempts_total{state="DeadLetter"}',
    'creel_alert_sends_total{outcome="failed",channel="slack"}',
    'creel_internal_errors_total',
  ]) {
    expect(scraped.split('\n')).toContain(`${series} 0`)
  }
  expect(scraped).toMatch(/^creel_build_info\{version="[\d.]+",bun="[\d.]+"\} 1$/m)
  for (const name of [
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'process_open_fds',
  ]) {
    expect(scraped).toMatch(new RegExp(`^${name} [\\d.e+-]+$`, 'm'))
  }
  expect(await statusOf(`http://127.0.0.1:${port}/readyz`)).toBe(200)
  expect(await statusOf(`http://127.0.0.1:${port}/api/v1/me`)).toBe(404)
  expect(await statusOf(`${creel.baseUrl}/metrics`)).toBe(404)
  expect(await statusOf(`${creel.baseUrl}/readyz`)).toBe(200)

  const key = creel.first?.key ?? ''
  await fetch(`${creel.baseUrl}/api/v1/me`, { headers: { Authorization: `Bearer ${key}` } })
  expect(await creel.stop()).toBe(0)
  // The output of a first boot shows the key, once; the log never does.
  const log = creel
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'))
  expect(log.join()).toContain('"route":"me.get"')
  expect(log.join()).not.toContain(key)
  await database.drop()
})

test('without a port of its own, /metrics is for this machine without a proxy, and for the token', async () => {
  const database = await createTestDatabase()
  const token = 'a-token-for-the-scraper'
  const creel = await startProcess({
    database,
    env: { CREEL_HOST: '0.0.0.0', CREEL_METRICS_TOKEN: token, CREEL_TRUSTED_PROXIES: '127.0.0.0/8' },
  })
  const { port } = new URL(creel.baseUrl)
  const statusFrom = async (host: string, headers: Readonly<Record<string, string>> = {}) =>
    (await fetch(`http://${host}:${port}/metrics`, { headers })).status
  expect(await statusFrom('127.0.0.1')).toBe(200)
  for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Real-IP', 'Via'])
    expect([name, await statusFrom('127.0.0.1', { [name]: '127.0.0.1' })]).toEqual([name, 404])
  expect(await statusFrom('127.0.0.1', { 'X-Forwarded-For': '203.0.113.9' })).toBe(404)
  const others = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).filter(({ internal, family }) => !internal && family === 'IPv4'),
  )
  for (const { address } of others) {
    expect(await statusFrom(address)).toBe(404)
    expect((await fetch(`http://${address}:${port}/metrics`, { method: 'POST' })).status).toBe(404)
  }
  for (const host of ['127.0.0.1', ...others.map(({ address }) => address)]) {
    const through = { 'X-Forwarded-For': '203.0.113.9', Authorization: `Bearer ${token}` }
    expect(await statusFrom(host, through)).toBe(200)
    expect(await statusFrom(host, { ...through, Authorization: `Bearer ${token}x` })).toBe(404)
  }
  const otherKey = { Authorization: `Bearer ${token}x` }
  expect(await statusFrom('127.0.0.1', otherKey)).toBe(200)
  for (const { address } of others) expect(await statusFrom(address, otherKey)).toBe(404)
  expect(await creel.stop()).toBe(0)
  await database.drop()
})
