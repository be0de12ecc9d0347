/** The code under test of these examples: something that sends webhooks. */
export async function notifyPaid(url, order) {
  await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ type: 'order.paid', order }),
  })
}
