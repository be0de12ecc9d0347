import { describe, expect, test } from 'bun:test'
import { CHANNEL_KINDS } from './kinds/index.ts'
import { readSettings } from './settings.ts'

const telegram = CHANNEL_KINDS.telegram.fields
const pagerduty = CHANNEL_KINDS.pagerduty.fields
const webhook = CHANNEL_KINDS.webhook.fields
const ntfy = CHANNEL_KINDS.ntfy.fields
const codes = (issues: readonly { path: readonly (string | number)[]; code: string }[]) =>
  issues.map(({ path, code }) => `${path.join('.')}: ${code}`)

describe('readSettings', () => {
  test('fills in defaults', () => {
    expect(readSettings(pagerduty, undefined, {})).toEqual({ settings: { region: 'us' }, issues: [] })
    expect(readSettings(telegram, { chatId: '-100' }, {}).settings).toEqual({
      chatId: '-100',
      threadId: null,
    })
  })

  test('merges member by member, null meaning unchanged', () => {
    const stored = { chatId: '-100', threadId: 5 }
    expect(readSettings(telegram, { chatId: '-200', threadId: null }, stored).settings).toEqual({
      chatId: '-200',
      threadId: 5,
    })
  })

  test('"" takes an optional setting back to its default, a required one never', () => {
    expect(
      readSettings(telegram, { threadId: '' }, { chatId: '1', threadId: 5 }).settings.threadId,
    ).toBeNull()
    expect(codes(readSettings(telegram, { chatId: '' }, { chatId: '1' }).issues)).toEqual([
      'settings.chatId: too_short',
    ])
  })

  test('a member that is no setting is refused with the right one', () => {
    const { fields, credentialLabel } = CHANNEL_KINDS.slack
    const [issue] = readSettings(fields, { url: 'https://x.test' }, {}, credentialLabel).issues
    expect(issue?.detail).toBe(
      'settings.url is not a setting of this kind. It has no settings; its Incoming webhook URL is the member `secret`.',
    )
    expect(readSettings(ntfy, { url: 'x', topic: 'a' }, {}).issues[0]?.detail).toContain('settings.topic')
  })

  test('names every wrong part, missing ones last', () => {
    expect(codes(readSettings(telegram, { colour: 1, threadId: 'x' }, {}).issues)).toEqual([
      'settings.colour: unknown_field',
      'settings.threadId: type',
      'settings.chatId: required',
    ])
    expect(codes(readSettings(pagerduty, { region: 'moon' }, {}).issues)).toEqual([
      'settings.region: unknown_value',
    ])
    expect(codes(readSettings(ntfy, { topic: 'a/b' }, {}).issues)).toEqual(['settings.topic: bad_format'])
    expect(codes(readSettings(ntfy, { topic: 'a'.repeat(65) }, {}).issues)).toEqual([
      'settings.topic: too_long',
    ])
  })

  test('extra headers are few, plain, and none of ours', () => {
    const headers = (value: unknown) =>
      codes(readSettings(webhook, { url: 'https://x.test', headers: value }, {}).issues)
    expect(headers({ 'X-Team': 'ops' })).toEqual([])
    expect(headers({ 'X Team': 'ops' })).toEqual(['settings.headers.X Team: bad_format'])
    expect(headers({ host: 'x', 'Creel-Signature': 'x' })).toEqual([
      'settings.headers.host: not_allowed',
      'settings.headers.Creel-Signature: not_allowed',
    ])
    expect(headers({ 'X-A': 'a\r\nb' })).toEqual(['settings.headers.X-A: bad_format'])
    expect(headers({ 'X-A': 1 })).toEqual(['settings.headers.X-A: type'])
    expect(headers(Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`x-${at}`, 'a'])))).toEqual([
      'settings.headers: too_many',
    ])
    expect(headers([])).toEqual(['settings.headers: type'])
  })

  test('a member equal to what is stored is not validated anew', () => {
    expect(readSettings(ntfy, { topic: 'a/b' }, { topic: 'a/b' }).issues).toEqual([])
  })
})
