import type { Facts, JsonObject, ProviderSamples } from '../sample.ts'

const lineItem = (facts: Facts): JsonObject => ({
  id: facts.number(13),
  price: '24.50',
  quantity: 2,
  sku: 'MUG-BLUE',
  title: 'Mug, blue',
})

const shopifyTopic = (topic: string) => (facts: Facts) => ({
  'X-Shopify-Topic': topic,
  'X-Shopify-Shop-Domain': 'creel-sample.myshopify.com',
  'X-Shopify-Webhook-Id': facts.uuid(),
  'X-Shopify-Event-Id': facts.uuid(),
})

const SHOPIFY: ProviderSamples = {
  provider: 'shopify',
  events: [
    {
      event: 'orders/create',
      summary: 'An order of two mugs',
      headers: shopifyTopic('orders/create'),
      body: (facts) => ({
        id: facts.number(13),
        created_at: facts.iso,
        currency: 'EUR',
        customer: { id: facts.number(13), email: 'ada@example.com', first_name: 'Ada', last_name: 'Example' },
        email: 'ada@example.com',
        financial_status: 'paid',
        line_items: [lineItem(facts)],
        name: `#${facts.number(4)}`,
        total_price: '49.00',
      }),
    },
    {
      event: 'products/update',
      summary: 'A product has another price',
      headers: shopifyTopic('products/update'),
      body: (facts) => ({
        id: facts.number(13),
        handle: 'mug-blue',
        title: 'Mug, blue',
        updated_at: facts.iso,
        variants: [{ id: facts.number(13), inventory_quantity: 14, price: '22.00', sku: 'MUG-BLUE' }],
      }),
    },
    {
      event: 'app/uninstalled',
      summary: 'A shop has removed the app',
      headers: shopifyTopic('app/uninstalled'),
      body: (facts) => ({
        id: facts.number(11),
        domain: 'creel-sample.myshopify.com',
        name: 'Creel sample shop',
      }),
    },
  ],
}

const wooTopic = (topic: string) => (facts: Facts) => ({
  'X-WC-Webhook-Topic': topic,
  'X-WC-Webhook-Resource': topic.split('.')[0] ?? '',
  'X-WC-Webhook-Event': topic.split('.')[1] ?? '',
  'X-WC-Webhook-Source': 'https://shop.example.com/',
  'X-WC-Webhook-Delivery-ID': facts.hex(32),
})

const WOOCOMMERCE: ProviderSamples = {
  provider: 'woocommerce',
  events: [
    {
      event: 'order.created',
      summary: 'A new order',
      headers: wooTopic('order.created'),
      body: (facts) => ({
        id: facts.number(4),
        billing: { email: 'ada@example.com', first_name: 'Ada', last_name: 'Example' },
        currency: 'EUR',
        date_created_gmt: facts.iso.slice(0, 19),
        line_items: [{ id: facts.number(3), name: 'Mug, blue', quantity: 2, total: '49.00' }],
        number: String(facts.number(4)),
        status: 'processing',
        total: '49.00',
      }),
    },
    {
      event: 'customer.updated',
      summary: 'A customer has moved',
      headers: wooTopic('customer.updated'),
      body: (facts) => ({
        id: facts.number(4),
        email: 'ada@example.com',
        shipping: { address_1: '12 Mill Lane', city: 'Bath', country: 'GB', postcode: 'BA1 1AA' },
      }),
    },
  ],
}

const TYPEFORM: ProviderSamples = {
  provider: 'typeform',
  events: [
    {
      event: 'form_response',
      summary: 'A form was filled in',
      body: (facts) => ({
        event_id: `01${facts.token(24).toUpperCase()}`,
        event_type: 'form_response',
        form_response: {
          form_id: facts.token(8),
          token: facts.token(32).toLowerCase(),
          submitted_at: facts.iso,
          definition: {
            title: 'How was it?',
            fields: [{ id: 'q1', ref: 'rating', title: 'Your rating', type: 'rating' }],
          },
          answers: [{ field: { id: 'q1', ref: 'rating', type: 'rating' }, number: 5, type: 'number' }],
        },
      }),
    },
  ],
}

const calendly = (event: string, payload: (facts: Facts) => JsonObject) => (facts: Facts) => ({
  event,
  created_at: facts.iso,
  created_by: `https://api.calendly.com/users/${facts.uuid()}`,
  payload: payload(facts),
})

const CALENDLY: ProviderSamples = {
  provider: 'calendly',
  events: [
    {
      event: 'invitee.created',
      summary: 'A meeting was booked',
      body: calendly('invitee.created', (facts) => ({
        email: 'ada@example.com',
        name: 'Ada Example',
        status: 'active',
        timezone: 'Europe/London',
        uri: `https://api.calendly.com/scheduled_events/${facts.uuid()}/invitees/${facts.uuid()}`,
      })),
    },
    {
      event: 'invitee.canceled',
      summary: 'A meeting was called off',
      body: calendly('invitee.canceled', () => ({
        email: 'ada@example.com',
        name: 'Ada Example',
        status: 'canceled',
        cancellation: { canceled_by: 'Ada Example', canceler_type: 'invitee', reason: 'On a train' },
      })),
    },
  ],
}

/** Samples of shops, forms and calendars. */
export const SHOPS: readonly ProviderSamples[] = [SHOPIFY, WOOCOMMERCE, TYPEFORM, CALENDLY]
