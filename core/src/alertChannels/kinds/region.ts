import { field } from '../settings.ts'

/** The region of a PagerDuty or Opsgenie account, chosen at its creation. */
export const REGION_FIELD = field({
  name: 'region',
  label: 'Service region',
  type: 'select',
  default: 'us',
  options: ['us', 'eu'],
  help: 'Region of the account. A key of one region does not work in the other.',
})
