import type { Facts, JsonObject, ProviderSamples } from '../sample.ts'

const stripe = (type: string, object: (facts: Facts) => JsonObject) => (facts: Facts) => ({
  id: `evt_${facts.token(24)}`,
  object: 'event',
  api_version: '2026-08-27',
  created: facts.unix,
  data: { object: object(facts) },
  livemode: false,
  pending_webhooks: 1,
  request: { id: `req_${facts.token(14)}`, idempotency_key: facts.uuid() },
  type,
})

const subscription = (facts: Facts, status: string): JsonObject => ({
  id: `sub_${facts.token(24)}`,
  object: 'subscription',
  cancel_at_period_end: false,
  collection_method: 'charge_automatically',
  currency: 'usd',
  current_period_end: facts.unix + 2_592_000,
  current_period_start: facts.unix,
  customer: `cus_${facts.token(14)}`,
  latest_invoice: `in_${facts.token(24)}`,
  status,
})

const STRIPE: ProviderSamples = {
  provider: 'stripe',
  events: [
    {
      event: 'checkout.session.completed',
      summary: 'A customer has paid for a basket',
      body: stripe('checkout.session.completed', (facts) => ({
        id: `cs_test_${facts.token(32)}`,
        object: 'checkout.session',
        amount_subtotal: 4200,
        amount_total: 4998,
        currency: 'eur',
        customer: `cus_${facts.token(14)}`,
        customer_details: { email: 'ada@example.com', name: 'Ada Example' },
        metadata: { order_id: `ord_${facts.number(5)}` },
        mode: 'payment',
        payment_intent: `pi_${facts.token(24)}`,
        payment_status: 'paid',
        status: 'complete',
      })),
    },
    {
      event: 'invoice.paid',
      summary: 'The invoice of a subscription was paid',
      body: stripe('invoice.paid', (facts) => ({
        id: `in_${facts.token(24)}`,
        object: 'invoice',
        amount_due: 1900,
        amount_paid: 1900,
        amount_remaining: 0,
        billing_reason: 'subscription_cycle',
        currency: 'usd',
        customer: `cus_${facts.token(14)}`,
        number: `CREEL-${facts.number(4)}`,
        paid: true,
        status: 'paid',
        subscription: `sub_${facts.token(24)}`,
      })),
    },
    {
      event: 'invoice.payment_failed',
      summary: 'The invoice of a subscription was not paid',
      body: stripe('invoice.payment_failed', (facts) => ({
        id: `in_${facts.token(24)}`,
        object: 'invoice',
        amount_due: 1900,
        amount_paid: 0,
        amount_remaining: 1900,
        attempt_count: 1,
        billing_reason: 'subscription_cycle',
        currency: 'usd',
        customer: `cus_${facts.token(14)}`,
        next_payment_attempt: facts.unix + 259_200,
        number: `CREEL-${facts.number(4)}`,
        paid: false,
        status: 'open',
        subscription: `sub_${facts.token(24)}`,
      })),
    },
    {
      event: 'customer.created',
      summary: 'A new customer',
      body: stripe('customer.created', (facts) => ({
        id: `cus_${facts.token(14)}`,
        object: 'customer',
        created: facts.unix,
        email: 'ada@example.com',
        invoice_prefix: facts.token(8).toUpperCase(),
        metadata: {},
        name: 'Ada Example',
      })),
    },
    {
      event: 'customer.subscription.created',
      summary: 'A new subscription',
      body: stripe('customer.subscription.created', (facts) => subscription(facts, 'active')),
    },
    {
      event: 'customer.subscription.updated',
      summary: 'A subscription is past due',
      body: stripe('customer.subscription.updated', (facts) => subscription(facts, 'past_due')),
    },
    {
      event: 'customer.subscription.deleted',
      summary: 'A subscription has ended',
      body: stripe('customer.subscription.deleted', (facts) => subscription(facts, 'canceled')),
    },
    {
      event: 'charge.refunded',
      summary: 'A charge was refunded in part',
      body: stripe('charge.refunded', (facts) => ({
        id: `ch_${facts.token(24)}`,
        object: 'charge',
        amount: 4998,
        amount_refunded: 1250,
        captured: true,
        currency: 'eur',
        payment_intent: `pi_${facts.token(24)}`,
        refunded: false,
        status: 'succeeded',
      })),
    },
    {
      event: 'payment_intent.succeeded',
      summary: 'A payment has succeeded',
      body: stripe('payment_intent.succeeded', (facts) => ({
        id: `pi_${facts.token(24)}`,
        object: 'payment_intent',
        amount: 4998,
        amount_received: 4998,
        currency: 'eur',
        latest_charge: `ch_${facts.token(24)}`,
        status: 'succeeded',
      })),
    },
    {
      event: 'payment_intent.payment_failed',
      summary: 'A card was declined',
      body: stripe('payment_intent.payment_failed', (facts) => ({
        id: `pi_${facts.token(24)}`,
        object: 'payment_intent',
        amount: 1250,
        currency: 'gbp',
        last_payment_error: { code: 'card_declined', decline_code: 'insufficient_funds', type: 'card_error' },
        status: 'requires_payment_method',
      })),
    },
  ],
}

const square = (type: string, kind: string, object: (facts: Facts) => JsonObject) => (facts: Facts) => ({
  merchant_id: `ML${facts.token(11).toUpperCase()}`,
  type,
  event_id: facts.uuid(),
  created_at: facts.iso,
  data: { type: kind, id: facts.token(22), object: { [kind]: object(facts) } },
})

const SQUARE: ProviderSamples = {
  provider: 'square',
  events: [
    {
      event: 'payment.updated',
      summary: 'A payment has been completed',
      body: square('payment.updated', 'payment', (facts) => ({
        id: facts.token(22),
        amount_money: { amount: 1875, currency: 'USD' },
        location_id: `L${facts.token(12).toUpperCase()}`,
        order_id: facts.token(22),
        source_type: 'CARD',
        status: 'COMPLETED',
        version: 3,
      })),
    },
    {
      event: 'refund.created',
      summary: 'Money goes back to a buyer',
      body: square('refund.created', 'refund', (facts) => ({
        id: facts.token(22),
        amount_money: { amount: 500, currency: 'USD' },
        payment_id: facts.token(22),
        reason: 'One cup came broken',
        status: 'PENDING',
      })),
    },
  ],
}

const paddle = (type: string, data: (facts: Facts) => JsonObject) => (facts: Facts) => ({
  event_id: `evt_01${facts.token(24).toLowerCase()}`,
  event_type: type,
  occurred_at: facts.iso,
  notification_id: `ntf_01${facts.token(24).toLowerCase()}`,
  data: data(facts),
})

const PADDLE: ProviderSamples = {
  provider: 'paddle',
  events: [
    {
      event: 'transaction.completed',
      summary: 'A sale is through',
      body: paddle('transaction.completed', (facts) => ({
        id: `txn_01${facts.token(24).toLowerCase()}`,
        currency_code: 'EUR',
        customer_id: `ctm_01${facts.token(24).toLowerCase()}`,
        details: { totals: { subtotal: '2000', tax: '400', total: '2400' } },
        origin: 'web',
        status: 'completed',
      })),
    },
    {
      event: 'subscription.canceled',
      summary: 'A subscription ends',
      body: paddle('subscription.canceled', (facts) => ({
        id: `sub_01${facts.token(24).toLowerCase()}`,
        canceled_at: facts.iso,
        customer_id: `ctm_01${facts.token(24).toLowerCase()}`,
        status: 'canceled',
      })),
    },
  ],
}

const razorpay = (event: string, kind: string, entity: (facts: Facts) => JsonObject) => (facts: Facts) => ({
  entity: 'event',
  account_id: `acc_${facts.token(14)}`,
  event,
  contains: [kind],
  payload: { [kind]: { entity: entity(facts) } },
  created_at: facts.unix,
})

const razorpayHeaders = (facts: Facts) => ({ 'x-razorpay-event-id': facts.token(14) })

const RAZORPAY: ProviderSamples = {
  provider: 'razorpay',
  events: [
    {
      event: 'payment.captured',
      summary: 'A payment was captured',
      headers: razorpayHeaders,
      body: razorpay('payment.captured', 'payment', (facts) => ({
        id: `pay_${facts.token(14)}`,
        entity: 'payment',
        amount: 99900,
        currency: 'INR',
        email: 'asha@example.com',
        method: 'upi',
        order_id: `order_${facts.token(14)}`,
        status: 'captured',
      })),
    },
    {
      event: 'refund.processed',
      summary: 'A refund has been paid out',
      headers: razorpayHeaders,
      body: razorpay('refund.processed', 'refund', (facts) => ({
        id: `rfnd_${facts.token(14)}`,
        entity: 'refund',
        amount: 5000,
        currency: 'INR',
        payment_id: `pay_${facts.token(14)}`,
        status: 'processed',
      })),
    },
  ],
}

const ADYEN: ProviderSamples = {
  provider: 'adyen',
  events: [
    {
      event: 'AUTHORISATION',
      summary: 'A card payment was authorised',
      body: (facts) => ({
        live: 'false',
        notificationItems: [
          {
            NotificationRequestItem: {
              additionalData: {},
              amount: { currency: 'EUR', value: 4998 },
              eventCode: 'AUTHORISATION',
              eventDate: facts.iso,
              merchantAccountCode: 'ExampleShop',
              merchantReference: `ord_${facts.number(5)}`,
              originalReference: '',
              paymentMethod: 'visa',
              pspReference: facts.token(16).toUpperCase(),
              reason: '',
              success: 'true',
            },
          },
        ],
      }),
    },
  ],
}

const MOLLIE: ProviderSamples = {
  provider: 'mollie',
  events: [
    {
      event: 'payment-link.paid',
      summary: 'A payment link was paid',
      body: (facts) => ({
        resource: 'event',
        id: `event_${facts.token(20)}`,
        type: 'payment-link.paid',
        entityId: `pl_${facts.token(20)}`,
        createdAt: facts.iso,
        _embedded: { entity: { amount: { value: '24.95', currency: 'EUR' }, description: 'Six mugs' } },
      }),
    },
  ],
}

const PLAID: ProviderSamples = {
  provider: 'plaid',
  events: [
    {
      event: 'SYNC_UPDATES_AVAILABLE',
      summary: 'New transactions of a bank account can be read',
      body: (facts) => ({
        environment: 'sandbox',
        historical_update_complete: true,
        initial_update_complete: true,
        item_id: facts.token(37),
        webhook_code: 'SYNC_UPDATES_AVAILABLE',
        webhook_type: 'TRANSACTIONS',
      }),
    },
  ],
}

/** Samples of payment services. */
export const PAYMENTS: readonly ProviderSamples[] = [STRIPE, SQUARE, PADDLE, RAZORPAY, ADYEN, MOLLIE, PLAID]
