import { retryScheduleText } from '@creel/core/deliveries'
import type { Limits, PlanKey } from '@creel/core/plans'
import { serverUrls } from '@creel/core/platform/db'
import type { Config } from './config.ts'
import { VARIABLE_NAMES, type VariableName } from './variables.ts'

/** Masks for variables that may hold secrets. */
const MASKS: { readonly [Name in VariableName]?: (value: string) => string } = {
  DATABASE_URL: withoutPassword,
  CREEL_DATABASE_READ_URL: withoutPassword,
  CREEL_SECRET_KEY: () => '***',
  CREEL_SECRET_KEYS: () => '***',
  CREEL_SMTP_URL: withoutPassword,
  CREEL_METRICS_TOKEN: () => '***',
}

/** A configuration that is safe to print: secrets are masked, absent variables null. */
export interface MaskedConfig {
  readonly variables: Readonly<Record<string, unknown>>
  readonly plans: Readonly<Record<PlanKey, Limits>>
}

/**
 * Every variable with its effective value, in the form that its parser accepts, secrets masked; absent ones are null.
 */
export function maskedConfig(config: Config): MaskedConfig {
  const shown = VARIABLE_NAMES.map((name) => {
    const value = name === 'CREEL_RETRY_SCHEDULE' ? retryScheduleText(config[name]) : (config[name] ?? null)
    return [name, value === null ? null : (MASKS[name]?.(String(value)) ?? value)]
  })
  const { free, solo, pro, team, 'self-hosted': selfHosted } = config.plans
  return {
    variables: Object.fromEntries(shown),
    plans: {
      free: free.limits,
      solo: solo.limits,
      pro: pro.limits,
      team: team.limits,
      'self-hosted': selfHosted.limits,
    },
  }
}

/** Credentials are before the `@`, or in the query (`?password=…`). A text that is not a URL is masked completely. */
function withoutPassword(text: string): string {
  const urls = serverUrls(text)
  if (!urls.every((url) => URL.canParse(url))) return '***'
  const [parsed = new URL(text), ...others] = urls.map((url) => new URL(url))
  if (parsed.password !== '') parsed.password = '***'
  for (const name of [...parsed.searchParams.keys()]) {
    if (/pass|secret|key|token/i.test(name)) parsed.searchParams.set(name, '***')
  }
  const hosts = [parsed, ...others].map(({ host }) => host)
  return parsed.href.replace(parsed.host, hosts.join())
}
