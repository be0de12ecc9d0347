import type { Config } from './config.ts'

/** What `creel config` prints: every variable with its effective value, secrets masked (DESIGN §8). */
export function maskedConfig(config: Config): Record<string, unknown> {
  const { plans, ...values } = config
  return {
    ...values,
    DATABASE_URL: values.DATABASE_URL === undefined ? null : withoutPassword(values.DATABASE_URL),
    CREEL_BASE_URL: values.CREEL_BASE_URL ?? null,
    CREEL_CAPTURE_URL: values.CREEL_CAPTURE_URL ?? null,
    CREEL_SECRET_KEY: values.CREEL_SECRET_KEY === undefined ? null : '***',
    CREEL_PLANS_FILE: values.CREEL_PLANS_FILE ?? null,
    CREEL_SMTP_URL: values.CREEL_SMTP_URL === undefined ? null : withoutPassword(values.CREEL_SMTP_URL),
    CREEL_MAIL_FROM: values.CREEL_MAIL_FROM ?? null,
    CREEL_METRICS_PORT: values.CREEL_METRICS_PORT ?? null,
    plans: Object.fromEntries(Object.entries(plans).map(([key, plan]) => [key, plan.limits])),
  }
}

/** Credentials stand before the `@`, or in the query (`?password=…`); what cannot be read is masked whole. */
function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return '***'
  const parsed = new URL(url)
  if (parsed.password !== '') parsed.password = '***'
  for (const name of [...parsed.searchParams.keys()]) {
    if (/pass|secret|key|token/i.test(name)) parsed.searchParams.set(name, '***')
  }
  return parsed.href
}
