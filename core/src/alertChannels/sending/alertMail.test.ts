import { describe, expect, test } from 'bun:test'
import type { Alert } from '../../alerts/index.ts'
import { alertMail } from './alertMail.ts'

const alert: Alert = {
  id: 'a',
  kind: 'watchdog.alarmed',
  severity: 'critical',
  status: 'open',
  incidentId: 'i',
  title: 'Watchdog <nightly> is alarmed',
  message: 'No capture since 03:00.\nOne was due every hour.',
  subject: { type: 'watchdog', id: 'w', name: '<nightly>' },
  endpoint: { id: 'e', name: 'backups' },
  requestId: null,
  count: 1,
  openedAt: new Date('2026-11-21T04:00:00.000Z'),
  closedAt: null,
  occurredAt: new Date('2026-11-21T04:00:00.000Z'),
  workspaceName: 'Acme & Sons',
  isTest: false,
}

describe('alertMail', () => {
  test('text and HTML tell the same facts', () => {
    const { subject, text, html } = alertMail(alert, null)
    expect(subject).toBe('[critical] Watchdog <nightly> is alarmed')
    for (const fact of ['No capture since 03:00.', 'backups (e)', '2026-11-21T04:00:00.000Z', 'critical']) {
      expect(text).toContain(fact)
      expect(html).toContain(fact)
    }
  })

  test('nothing from outside becomes markup or a header', () => {
    const { subject, html } = alertMail({ ...alert, title: 'a<img src=x>\r\nBcc: x@y.z' }, null)
    expect(subject).not.toMatch(/[\r\n]/)
    expect(html).not.toContain('<img')
    expect(html).toContain('&lt;nightly&gt;')
    expect(html).toContain('Acme &amp; Sons')
  })

  test('a closed incident says recovered, and until when it lasted', () => {
    const closed = { ...alert, status: 'closed', closedAt: new Date('2026-11-21T05:00:00.000Z') } as const
    const { subject, text } = alertMail(closed, null)
    expect(subject).toStartWith('[recovered]')
    expect(text).toContain('Closed: 2026-11-21T05:00:00.000Z')
  })

  test('a fallback says which channel was failing', () => {
    const { text, html } = alertMail(alert, 'The channel Ops is failing.')
    expect(text).toContain('The channel Ops is failing.')
    expect(html).toContain('The channel Ops is failing.')
  })
})
