import { describe, expect, test } from 'bun:test'
import { everySubscription } from '../../alerts/index.ts'
import { type Audience, type Candidate, recipientsOf } from './fanOut.ts'

const channel = (changes: Partial<Candidate> = {}): Candidate => ({
  id: 'c1',
  name: 'Ops',
  kind: 'slack',
  enabled: true,
  connected: true,
  muted: false,
  failing: false,
  inPlan: true,
  events: everySubscription('info'),
  heldOpen: false,
  ...changes,
})

/** The recipients as text: `slack` or `slack (muted)` for channels, `mail to a (for Ops)` for mails. */
const notified = (audience: Partial<Audience>) =>
  recipientsOf({
    alert: { kind: 'delivery.parked', severity: 'error' },
    channels: [],
    contacts: [],
    namedContacts: [],
    ...audience,
  }).map(({ channel, recipient, outcome }) => {
    if (recipient === null) return `${channel?.kind}${outcome === null ? '' : ` (${outcome})`}`
    return `mail to ${recipient}${channel === null ? '' : ` (for ${channel.name})`}`
  })

describe('recipientsOf', () => {
  test('a channel that takes the alert spares the contacts', () => {
    expect(notified({ channels: [channel()], contacts: ['a'] })).toEqual(['slack'])
  })

  test('without a channel all contacts are mailed', () => {
    expect(notified({ contacts: ['a', 'b'] })).toEqual(['mail to a', 'mail to b'])
  })

  test('a failing channel is tried, and all contacts are mailed in its stead', () => {
    const channels = [channel(), channel({ name: 'Broken', failing: true })]
    expect(notified({ channels, contacts: ['a'] })).toEqual(['slack', 'slack', 'mail to a (for Broken)'])
  })

  test('muted, over plan and unconnected channels are written down and spare nobody', () => {
    expect(notified({ channels: [channel({ muted: true })], contacts: ['a'] })).toEqual([
      'slack (muted)',
      'mail to a',
    ])
    expect(notified({ channels: [channel({ inPlan: false })], contacts: ['a'] })).toEqual([
      'slack (suppressed)',
      'mail to a',
    ])
    expect(notified({ channels: [channel({ connected: false })], contacts: ['a'] })).toEqual([
      'slack (suppressed)',
      'mail to a',
    ])
  })

  test('a muted channel that is failing needs no stand-in', () => {
    expect(
      notified({ channels: [channel(), channel({ muted: true, failing: true })], contacts: ['a'] }),
    ).toEqual(['slack', 'slack (muted)'])
  })

  test('a channel that is off, or does not subscribe at this severity, is passed over', () => {
    expect(notified({ channels: [channel({ enabled: false })] })).toEqual([])
    const critical = [{ kind: 'delivery.parked', minSeverity: 'critical' }] as const
    expect(notified({ channels: [channel({ events: critical })], contacts: ['a'] })).toEqual(['mail to a'])
  })

  test('a closing event follows its incident to where it is held open', () => {
    const alert = { kind: 'delivery.recovered', severity: 'error' } as const
    const opening = [{ kind: 'delivery.parked', minSeverity: 'info' }] as const
    const pager = channel({ kind: 'pagerduty', events: opening })
    expect(notified({ alert, channels: [pager] })).toEqual([])
    expect(notified({ alert, channels: [{ ...pager, heldOpen: true }] })).toEqual(['pagerduty'])
  })

  test("a watchdog's contacts are mailed besides the channels, alone without any, once when a channel fails", () => {
    const namedContacts = ['w']
    const contacts = ['a', 'w']
    expect(notified({ channels: [channel()], contacts, namedContacts })).toEqual(['slack', 'mail to w'])
    expect(notified({ contacts, namedContacts })).toEqual(['mail to w'])
    expect(notified({ channels: [channel({ failing: true })], contacts, namedContacts })).toEqual([
      'slack',
      'mail to w',
      'mail to a (for Ops)',
    ])
  })
})
