import type { Facts, JsonObject, ProviderSamples } from '../sample.ts'

const slack = (event: (facts: Facts) => JsonObject) => (facts: Facts) => ({
  type: 'event_callback',
  team_id: `T${facts.token(10).toUpperCase()}`,
  api_app_id: `A${facts.token(10).toUpperCase()}`,
  event_id: `Ev${facts.token(10).toUpperCase()}`,
  event_time: facts.unix,
  event: event(facts),
})

const SLACK: ProviderSamples = {
  provider: 'slack',
  events: [
    {
      event: 'message',
      summary: 'A message in a channel',
      body: slack((facts) => ({
        type: 'message',
        channel: `C${facts.token(10).toUpperCase()}`,
        channel_type: 'channel',
        text: 'High tide at noon',
        ts: `${facts.unix}.000100`,
        user: `U${facts.token(10).toUpperCase()}`,
      })),
    },
    {
      event: 'app_mention',
      summary: 'A mention of the app',
      body: slack((facts) => ({
        type: 'app_mention',
        channel: `C${facts.token(10).toUpperCase()}`,
        text: '<@U0CREEL> when is high tide?',
        ts: `${facts.unix}.000200`,
        user: `U${facts.token(10).toUpperCase()}`,
      })),
    },
  ],
}

const twilioToken = (facts: Facts) => ({ 'I-Twilio-Idempotency-Token': facts.uuid() })

const TWILIO: ProviderSamples = {
  provider: 'twilio',
  isForm: true,
  events: [
    {
      event: 'received',
      summary: 'A text message has come in',
      headers: twilioToken,
      body: (facts) => ({
        AccountSid: `AC${facts.hex(32)}`,
        Body: 'When is high tide?',
        From: '+15005550006',
        MessageSid: `SM${facts.hex(32)}`,
        NumMedia: '0',
        SmsStatus: 'received',
        To: '+15005550001',
      }),
    },
    {
      event: 'delivered',
      summary: 'A text message has arrived',
      headers: twilioToken,
      body: (facts) => ({
        AccountSid: `AC${facts.hex(32)}`,
        From: '+15005550001',
        MessageSid: `SM${facts.hex(32)}`,
        MessageStatus: 'delivered',
        To: '+15005550006',
      }),
    },
  ],
}

const mailgun = (event: string, more: JsonObject) => (facts: Facts) => ({
  signature: { timestamp: String(facts.unix), token: facts.hex(50), signature: '' },
  'event-data': {
    id: facts.token(22),
    event,
    timestamp: facts.unix + 0.25,
    recipient: 'ada@example.com',
    message: {
      headers: { 'message-id': `${facts.token(20)}@mail.example.com`, subject: 'The tides of the week' },
    },
    ...more,
  },
})

const MAILGUN: ProviderSamples = {
  provider: 'mailgun',
  events: [
    {
      event: 'delivered',
      summary: 'A mail has arrived',
      body: mailgun('delivered', { 'delivery-status': { code: 250, message: 'OK' }, 'log-level': 'info' }),
    },
    {
      event: 'failed',
      summary: 'A mail came back for good',
      body: mailgun('failed', {
        severity: 'permanent',
        reason: 'bounce',
        'delivery-status': { code: 550, message: 'No such mailbox' },
      }),
    },
  ],
}

const intercom = (topic: string, item: (facts: Facts) => JsonObject) => (facts: Facts) => ({
  type: 'notification_event',
  id: `notif_${facts.uuid()}`,
  app_id: facts.token(8).toLowerCase(),
  created_at: facts.unix,
  delivery_attempts: 1,
  topic,
  data: { type: 'notification_event_data', item: item(facts) },
})

const INTERCOM: ProviderSamples = {
  provider: 'intercom',
  events: [
    {
      event: 'conversation.user.created',
      summary: 'A user asks something',
      body: intercom('conversation.user.created', (facts) => ({
        type: 'conversation',
        id: String(facts.number(12)),
        source: {
          type: 'conversation',
          body: 'When is high tide?',
          author: { type: 'user', email: 'ada@example.com' },
        },
        state: 'open',
      })),
    },
    {
      event: 'contact.created',
      summary: 'A new lead',
      body: intercom('contact.created', (facts) => ({
        type: 'contact',
        id: facts.hex(24),
        email: 'ada@example.com',
        role: 'lead',
      })),
    },
  ],
}

const ZENDESK: ProviderSamples = {
  provider: 'zendesk',
  events: [
    {
      event: 'zen:event-type:ticket.created',
      summary: 'A ticket was opened',
      headers: (facts) => ({ 'X-Zendesk-Webhook-Invocation-Id': facts.token(26).toUpperCase() }),
      body: (facts) => ({
        account_id: facts.number(8),
        id: facts.uuid(),
        type: 'zen:event-type:ticket.created',
        subject: `zen:ticket:${facts.number(5)}`,
        time: facts.iso,
        zendesk_event_version: '2022-11-06',
        detail: { id: String(facts.number(5)), priority: 'NORMAL', status: 'NEW', subject: 'Ebb is late' },
        event: { meta: { version: 1 } },
      }),
    },
  ],
}

const HUBSPOT: ProviderSamples = {
  provider: 'hubspot',
  events: [
    {
      event: 'contact.creation',
      summary: 'A contact was added',
      // HubSpot sends events in lists.
      body: (facts) => [
        {
          eventId: facts.number(9),
          subscriptionId: facts.number(6),
          portalId: facts.number(8),
          occurredAt: facts.now.getTime(),
          subscriptionType: 'contact.creation',
          attemptNumber: 0,
          objectId: facts.number(7),
          changeSource: 'CRM_UI',
        },
      ],
    },
  ],
}

const clerk = (type: string, data: (facts: Facts) => JsonObject) => (facts: Facts) => ({
  object: 'event',
  type,
  timestamp: facts.now.getTime(),
  instance_id: `ins_${facts.token(27)}`,
  data: data(facts),
})

const CLERK: ProviderSamples = {
  provider: 'clerk',
  events: [
    {
      event: 'user.created',
      summary: 'A user signed up',
      body: clerk('user.created', (facts) => ({
        id: `user_${facts.token(27)}`,
        object: 'user',
        email_addresses: [{ id: `idn_${facts.token(27)}`, email_address: 'ada@example.com' }],
        first_name: 'Ada',
        last_name: 'Example',
        created_at: facts.now.getTime(),
      })),
    },
    {
      event: 'session.ended',
      summary: 'A user signed out',
      body: clerk('session.ended', (facts) => ({
        id: `sess_${facts.token(27)}`,
        object: 'session',
        status: 'ended',
        user_id: `user_${facts.token(27)}`,
      })),
    },
  ],
}

/** Samples of messaging services, and of services that manage users and customers. */
export const MESSAGES: readonly ProviderSamples[] = [
  SLACK,
  TWILIO,
  MAILGUN,
  INTERCOM,
  ZENDESK,
  HUBSPOT,
  CLERK,
]
