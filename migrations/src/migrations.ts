import type { Migration } from 'kysely/migration'
import * as workspaces from './20261121T1000_workspaces.ts'
import * as endpoints from './20261121T1010_endpoints.ts'
import * as requests from './20261121T1020_requests.ts'
import * as actionsAndDeliveries from './20261121T1030_actions_deliveries.ts'
import * as transformations from './20261121T1040_transformations.ts'
import * as alerts from './20261121T1050_alerts.ts'
import * as watchdogs from './20261121T1060_watchdogs.ts'
import * as fieldWords from './20261122T1100_field_words.ts'
import * as requestsSince from './20261122T1110_requests.ts'
import * as endpointsSince from './20261122T1120_endpoints.ts'
import * as actions from './20261122T1130_actions.ts'
import * as deliveries from './20261122T1140_deliveries.ts'
import * as transformationsSince from './20261122T1150_transformations.ts'
import * as keys from './20261122T1160_keys.ts'
import * as workspacesSince from './20261122T1170_workspaces.ts'
import * as alertsSince from './20261122T1180_alerts.ts'
import * as events from './20261122T1190_events.ts'
import * as reconciliations from './20261122T1200_reconciliations.ts'
import * as replays from './20261122T1210_replays.ts'
import * as searchPages from './20261122T1220_search_pages.ts'
import * as failedAttempts from './20261124T0300_failed_attempts.ts'
import * as sealedCaptures from './20261124T0310_sealed_captures.ts'
import * as shareLinks from './20261124T0320_share_links.ts'
import * as restoredKeys from './20261129T0930_restored_keys.ts'
import * as words from './20261130T0500_words.ts'
import * as importedRequests from './20261130T0510_imported_requests.ts'

/**
 * Every migration, oldest first. Forward only and frozen in time: once released, a file is never edited, and
 * none imports application code. Listed by hand so that the compiled executable carries them.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '20261121T1000_workspaces': workspaces,
  '20261121T1010_endpoints': endpoints,
  '20261121T1020_requests': requests,
  '20261121T1030_actions_deliveries': actionsAndDeliveries,
  '20261121T1040_transformations': transformations,
  '20261121T1050_alerts': alerts,
  '20261121T1060_watchdogs': watchdogs,
  '20261122T1100_field_words': fieldWords,
  '20261122T1110_requests': requestsSince,
  '20261122T1120_endpoints': endpointsSince,
  '20261122T1130_actions': actions,
  '20261122T1140_deliveries': deliveries,
  '20261122T1150_transformations': transformationsSince,
  '20261122T1160_keys': keys,
  '20261122T1170_workspaces': workspacesSince,
  '20261122T1180_alerts': alertsSince,
  '20261122T1190_events': events,
  '20261122T1200_reconciliations': reconciliations,
  '20261122T1210_replays': replays,
  '20261122T1220_search_pages': searchPages,
  '20261124T0300_failed_attempts': failedAttempts,
  '20261124T0310_sealed_captures': sealedCaptures,
  '20261124T0320_share_links': shareLinks,
  '20261129T0930_restored_keys': restoredKeys,
  '20261130T0500_words': words,
  '20261130T0510_imported_requests': importedRequests,
  '20261201T0240_attempts_by_delivery': failedAttempts.byDelivery,
}

/**
 * Migrations after which processes of older versions must not continue, with the reason. All others only add, so that
 * old and new processes can run at the same time during an upgrade.
 */
export const STOPS: Readonly<Record<string, string>> = {
  '20261122T1100_field_words': 'renames columns that processes of 0.1.0 read and write',
}
