import type { Facts, JsonObject, ProviderSamples } from '../sample.ts'

const ORDER = (facts: Facts): JsonObject => ({
  id: `ord_${facts.number(5)}`,
  amount: 4998,
  currency: 'EUR',
  status: 'paid',
})

/** The common envelope of webhook services: a type, a time, and data. */
const envelope = (type: string, data: (facts: Facts) => JsonObject) => (facts: Facts) => ({
  type,
  timestamp: facts.iso,
  data: data(facts),
})

const SVIX: ProviderSamples = {
  provider: 'svix',
  events: [{ event: 'order.paid', summary: 'An order was paid', body: envelope('order.paid', ORDER) }],
}

const STANDARD_WEBHOOKS: ProviderSamples = {
  provider: 'standard-webhooks',
  events: [{ event: 'order.paid', summary: 'An order was paid', body: envelope('order.paid', ORDER) }],
}

const mail = (type: string, more: JsonObject = {}) => ({
  body: (facts: Facts) => ({
    type,
    created_at: facts.iso,
    data: {
      email_id: facts.uuid(),
      created_at: facts.iso,
      from: 'Harbour Office <harbour@example.com>',
      subject: 'Tides of this week',
      to: ['ada@example.com'],
      ...more,
    },
  }),
})

const RESEND: ProviderSamples = {
  provider: 'resend',
  events: [
    { event: 'email.delivered', summary: 'A mail has arrived', ...mail('email.delivered') },
    {
      event: 'email.bounced',
      summary: 'A mail came back',
      ...mail('email.bounced', { bounce: { message: 'The mailbox is unknown.', type: 'Permanent' } }),
    },
  ],
}

const sendgrid = (event: string, more: JsonObject) => (facts: Facts) => [
  {
    email: 'ada@example.com',
    event,
    sg_event_id: facts.token(22),
    sg_message_id: `${facts.token(22)}.recvd-1`,
    timestamp: facts.unix,
    ...more,
  },
]

const SENDGRID: ProviderSamples = {
  provider: 'sendgrid',
  events: [
    {
      event: 'delivered',
      summary: 'A mail has arrived',
      body: sendgrid('delivered', { response: '250 OK' }),
    },
    {
      event: 'bounce',
      summary: 'A mail came back',
      body: sendgrid('bounce', { reason: '550 unknown mailbox', status: '5.1.1', type: 'bounce' }),
    },
  ],
}

const LINE: ProviderSamples = {
  provider: 'line',
  events: [
    {
      event: 'message',
      summary: 'A message to the account',
      body: (facts) => ({
        destination: `U${facts.hex(32)}`,
        events: [
          {
            type: 'message',
            deliveryContext: { isRedelivery: false },
            message: { type: 'text', id: String(facts.number(15)), text: 'When is high tide?' },
            mode: 'active',
            replyToken: facts.hex(32),
            source: { type: 'user', userId: `U${facts.hex(32)}` },
            timestamp: facts.now.getTime(),
            webhookEventId: facts.token(26).toUpperCase(),
          },
        ],
      }),
    },
  ],
}

const PUSHER: ProviderSamples = {
  provider: 'pusher',
  events: [
    {
      event: 'channel_occupied',
      summary: 'A subscription to an empty channel',
      headers: (facts) => ({ 'X-Pusher-Key': facts.hex(20) }),
      body: (facts) => ({
        time_ms: facts.now.getTime(),
        events: [{ channel: 'tides', name: 'channel_occupied' }],
      }),
    },
  ],
}

const WORKOS: ProviderSamples = {
  provider: 'workos',
  events: [
    {
      event: 'dsync.user.created',
      summary: 'A directory has a new user',
      body: (facts) => ({
        id: `event_${facts.token(26).toUpperCase()}`,
        event: 'dsync.user.created',
        created_at: facts.iso,
        data: {
          object: 'directory_user',
          id: `directory_user_${facts.token(26).toUpperCase()}`,
          directory_id: `directory_${facts.token(26).toUpperCase()}`,
          email: 'ada@example.com',
          first_name: 'Ada',
          last_name: 'Example',
          state: 'active',
        },
      }),
    },
  ],
}

/** Samples of services that send webhooks, mail and messages on behalf of others. */
export const SENDERS: readonly ProviderSamples[] = [
  SVIX,
  STANDARD_WEBHOOKS,
  RESEND,
  SENDGRID,
  LINE,
  PUSHER,
  WORKOS,
]
