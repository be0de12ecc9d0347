import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PLANS } from '@creel/core'
import { ConfigError, decodeConfig, maskedConfig } from './index.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

function mistakesOf(environment: Record<string, string>): readonly string[] {
  try {
    decodeConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
  return []
}

describe('decodeConfig', () => {
  test('an empty environment, and empty variables, give the documented defaults', () => {
    for (const environment of [{}, { CREEL_PORT: '', DATABASE_URL: '', CREEL_SECRET_KEY: ' ' }]) {
      const { config, warnings } = decodeConfig(environment)
      expect(config).toMatchObject({
        CREEL_DATA_DIR: resolve('.creel'),
        CREEL_HOST: '127.0.0.1',
        CREEL_PORT: 4400,
        CREEL_LOG_LEVEL: 'info',
        CREEL_ALLOW_DESTINATIONS: [],
        CREEL_TRUSTED_PROXIES: [],
        CREEL_FORMER_HOSTS: [],
        CREEL_CONNECTIONS_PER_ADDRESS: 2000,
      })
      expect(config.plans).toEqual(PLANS)
      expect(config.DATABASE_URL).toBeUndefined()
      expect(warnings).toEqual([])
    }
  })

  test('every wrong variable is named at once, without its value', () => {
    const mistakes = mistakesOf({
      DATABASE_URL: 'mysql://root:hunter2@db/x',
      CREEL_PORT: '65536',
      CREEL_BASE_URL: 'ftp://x',
      CREEL_CAPTURE_URL: 'https://user:hunter2@x',
      CREEL_SECRET_KEY: 'hunter2',
      CREEL_ALLOW_DESTINATIONS: '10.0.0.0/8, 10.0.0.0/33',
      CREEL_TRUSTED_PROXIES: '10.0.0.0/8,proxy',
      CREEL_FORMER_HOSTS: 'old.example.com,http://older',
      CREEL_PLANS_FILE: '/nowhere/plans.json',
      CREEL_SMTP_URL: 'mail.example.com',
      CREEL_MAIL_FROM: 'creel',
      CREEL_RETRY_SCHEDULE: '5s,5 minutes',
      CREEL_LOG_LEVEL: 'loud',
      CREEL_METRICS_PORT: '-1',
    })
    expect(mistakes.map((mistake) => mistake.split(' ')[0])).toEqual([
      'DATABASE_URL',
      'CREEL_PORT',
      'CREEL_BASE_URL',
      'CREEL_CAPTURE_URL',
      'CREEL_SECRET_KEY',
      'CREEL_ALLOW_DESTINATIONS',
      'CREEL_TRUSTED_PROXIES',
      'CREEL_FORMER_HOSTS',
      'CREEL_SMTP_URL',
      'CREEL_MAIL_FROM',
      'CREEL_RETRY_SCHEDULE',
      'CREEL_LOG_LEVEL',
      'CREEL_METRICS_PORT',
      'CREEL_PLANS_FILE',
    ])
    expect(mistakes.join()).not.toContain('hunter2')
  })

  test('a real database needs the secret key to be given', () => {
    expect(mistakesOf({ DATABASE_URL: 'postgres://db/creel' })).toEqual([
      expect.stringMatching(/^CREEL_SECRET_KEY is required with DATABASE_URL/),
    ])
    expect(mistakesOf({ DATABASE_URL: 'postgres://db/creel', CREEL_SECRET_KEY: KEY })).toEqual([])
  })

  test('secrets are read from files, and both ways at once is a mistake', () => {
    const folder = mkdtempSync(join(tmpdir(), 'creel-config-'))
    const file = join(folder, 'secret')
    try {
      writeFileSync(file, `${KEY}\n`)
      const { config, warnings } = decodeConfig({ CREEL_SECRET_KEY_FILE: file })
      expect(config.CREEL_SECRET_KEY).toEqual(Buffer.alloc(32, 7))
      expect(warnings).toEqual([])
      writeFileSync(join(folder, 'empty'), ' ')
      const mistakes = mistakesOf({
        CREEL_SECRET_KEY: KEY,
        CREEL_SECRET_KEY_FILE: file,
        CREEL_SMTP_URL_FILE: join(folder, 'none'),
        DATABASE_URL_FILE: join(folder, 'empty'),
      })
      expect(mistakes.map((mistake) => mistake.split(' ')[0])).toEqual([
        'DATABASE_URL_FILE',
        'CREEL_SECRET_KEY_FILE',
        'CREEL_SMTP_URL_FILE',
      ])
      expect(mistakes.join()).not.toContain(KEY)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('several keys stand in place of one, the newest first', () => {
    const other = Buffer.alloc(32, 8).toString('base64')
    const { config } = decodeConfig({
      CREEL_SECRET_KEYS: `${other}, ${KEY}`,
      DATABASE_URL: 'postgres://db/creel',
    })
    expect(config.CREEL_SECRET_KEYS?.map((key) => key[0])).toEqual([8, 7])
    const wrong = mistakesOf({ CREEL_SECRET_KEYS: `${other},hunter2`, CREEL_AUDIT_RETENTION_DAYS: '0' })
    expect(wrong.map((mistake) => mistake.split(' ')[0])).toEqual([
      'CREEL_SECRET_KEYS',
      'CREEL_AUDIT_RETENTION_DAYS',
    ])
    expect(wrong.join()).not.toContain('hunter2')
    expect(mistakesOf({ CREEL_SECRET_KEYS: other, CREEL_SECRET_KEY: KEY }).join()).toContain(
      'set only one of them',
    )
  })

  test('the plans file lifts what it names and leaves the rest; unknown plans, limits and bad numbers are all named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'creel-config-'))
    const file = join(folder, 'plans.json')
    try {
      writeFileSync(file, '{"team":{"captureRatePerMinute":1000000}}')
      const { plans } = decodeConfig({ CREEL_PLANS_FILE: file }).config
      expect(plans.team.limits.captureRatePerMinute).toBe(1_000_000)
      expect(plans.team.limits.endpointsMax).toBe(PLANS.team.limits.endpointsMax)
      expect(plans.pro).toEqual(PLANS.pro)

      writeFileSync(file, '{"gold":{},"team":{"requestsMax":1,"actionsMax":-1}}')
      const mistakes = mistakesOf({ CREEL_PLANS_FILE: file }).join('\n')
      expect(mistakes).toContain('gold')
      expect(mistakes).toContain('requestsMax')
      expect(mistakes).toContain('actionsMax')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('the retry schedule is a list of durations, in seconds once it is read', () => {
    expect(decodeConfig({ CREEL_RETRY_SCHEDULE: '250ms, 5s,2h' }).config.CREEL_RETRY_SCHEDULE).toEqual([
      0.25, 5, 7200,
    ])
    expect(decodeConfig({}).config.CREEL_RETRY_SCHEDULE).toEqual([5, 300, 1800, 7200, 18_000, 36_000])
  })

  test('a database may have several hosts', () => {
    const url = 'postgres://creel:hunter2@db-1:5432,db-2,[::1]:6432/creel'
    const { config } = decodeConfig({ DATABASE_URL: url, CREEL_SECRET_KEY: KEY })
    expect(config.DATABASE_URL).toBe(url)
    expect(maskedConfig(config).variables.DATABASE_URL).toBe(
      'postgres://creel:***@db-1:5432,db-2,[::1]:6432/creel',
    )
    const mistakes = (wrong: string) => mistakesOf({ DATABASE_URL: wrong, CREEL_SECRET_KEY: KEY })
    expect(mistakes(`${url}?target_session_attrs=primary`)).toEqual([])
    expect(mistakes(`${url}?target_session_attrs=any`)).toEqual([
      'DATABASE_URL must have a target_session_attrs of read-write, primary, read-only, standby',
    ])
    expect(mistakes('postgres://db-1:port,db-2/creel')).toEqual([
      'DATABASE_URL must name its hosts like host1:5432,host2:5432',
    ])
    const file = `${url}?sslrootcert=/absent.pem`
    expect(mistakes(file).join()).toContain('DATABASE_URL names a file in sslrootcert')
  })

  test('a password that ends the address of the database early is named, and not shown', () => {
    const mistakes = (url: string) => mistakesOf({ DATABASE_URL: url, CREEL_SECRET_KEY: KEY })
    for (const password of ['hunt#er2', 'hunt/er2', 'hunt?er2', 'hunt%E9er2'])
      expect(mistakes(`postgres://creel:${password}@db/creel`)).toEqual([
        'DATABASE_URL must be like postgres://user:password@host:5432/name, with special characters of the password percent-encoded: %23 for #',
      ])
    for (const url of [
      'postgres://creel:h%23@db/creel',
      'postgres://creel@/x?host=/run',
      'postgres:///x?host=/run',
    ])
      expect(mistakes(url)).toEqual([])
  })

  test('a misspelt variable is pointed out', () => {
    expect(decodeConfig({ CREEL_ALOW_DESTINATIONS: '10.0.0.0/8' }).warnings).toEqual([
      'CREEL_ALOW_DESTINATIONS is not a variable of creel and has no effect',
    ])
  })
})

test('maskedConfig shows no password and no key', () => {
  const { config } = decodeConfig({
    DATABASE_URL: 'postgres://creel:hunter2@db/creel?sslpassword=hunter2',
    CREEL_SECRET_KEY: KEY,
    CREEL_SMTP_URL: 'smtp://me:hunter2@mail.example.com',
  })
  const printed = JSON.stringify(maskedConfig(config))
  expect(printed).not.toContain('hunter2')
  expect(printed).not.toContain(KEY)
  expect(printed).toContain('creel:***@db')
})
