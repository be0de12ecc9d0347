import type { Migration } from 'kysely/migration'
import * as workspaces from './20261121T1000_workspaces.ts'
import * as endpoints from './20261121T1010_endpoints.ts'
import * as requests from './20261121T1020_requests.ts'
import * as actionsAndDeliveries from './20261121T1030_actions_deliveries.ts'
import * as transformations from './20261121T1040_transformations.ts'
import * as alerts from './20261121T1050_alerts.ts'
import * as watchdogs from './20261121T1060_watchdogs.ts'
import * as requestIds from './20261122T1100_request_ids.ts'
import * as appendTarget from './20261122T1200_append_target.ts'
import * as heldRules from './20261122T1210_held_rules.ts'
import * as sessions from './20261122T1300_sessions.ts'
import * as incidentsByWorkspace from './20261122T1310_incidents_by_workspace.ts'
import * as listenerReplays from './20261122T1400_listener_replays.ts'
import * as imports from './20261122T1500_imports.ts'
import * as fieldWords from './20261122T1650_field_words.ts'
import * as deliveryWorkers from './20261122T1700_delivery_workers.ts'
import * as windowBytes from './20261122T1710_window_bytes.ts'
import * as senders from './20261122T1715_senders.ts'
import * as keySignInLinks from './20261122T1730_key_sign_in_links.ts'
import * as keyScopes from './20261122T1750_key_scopes.ts'
import * as auditLog from './20261122T1751_audit_log.ts'
import * as captureUrls from './20261122T1755_capture_urls.ts'
import * as rejectionMinutes from './20261122T1800_rejection_minutes.ts'
import * as storageBytes from './20261122T1900_storage_bytes.ts'
import * as importBatches from './20261122T1910_import_batches.ts'
import * as binEvictions from './20261122T1920_bin_evictions.ts'
import * as eventIds from './20261122T1930_event_ids.ts'
import * as deliverySettings from './20261123T0100_delivery_settings.ts'
import * as deliveryFlows from './20261123T0210_delivery_flows.ts'
import * as reconciliations from './20261123T0300_reconciliations.ts'
import * as eventDedupe from './20261123T0400_event_dedupe.ts'
import * as eventTypes from './20261123T0600_event_types.ts'
import * as replays from './20261123T0605_replays.ts'
import * as eventSubscriptions from './20261123T0610_event_subscriptions.ts'
import * as oauth from './20261123T0620_oauth.ts'
import * as oauthRetries from './20261123T0625_oauth_retries.ts'
import * as relayEndpoints from './20261123T0920_relay_endpoints.ts'
import * as workspaceMoves from './20261123T1000_workspace_moves.ts'
import * as storeRules from './20261124T0010_store_rules.ts'
import * as scriptedAnswers from './20261124T0100_scripted_answers.ts'
import * as erasures from './20261124T0130_erasures.ts'
import * as searchPages from './20261124T0150_search_pages.ts'
import * as replayItemLeases from './20261124T0155_replay_item_leases.ts'
import * as decodedText from './20261124T0200_decoded_text.ts'
import * as alertLanes from './20261124T0205_alert_lanes.ts'
import * as originals from './20261124T0210_originals.ts'
import * as failingActions from './20261124T0215_failing_actions.ts'

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
  '20261122T1100_request_ids': requestIds,
  '20261122T1200_append_target': appendTarget,
  '20261122T1210_held_rules': heldRules,
  '20261122T1300_sessions': sessions,
  '20261122T1310_incidents_by_workspace': incidentsByWorkspace,
  '20261122T1400_listener_replays': listenerReplays,
  '20261122T1500_imports': imports,
  '20261122T1650_field_words': fieldWords,
  '20261122T1700_delivery_workers': deliveryWorkers,
  '20261122T1710_window_bytes': windowBytes,
  '20261122T1715_senders': senders,
  '20261122T1730_key_sign_in_links': keySignInLinks,
  '20261122T1750_key_scopes': keyScopes,
  '20261122T1751_audit_log': auditLog,
  '20261122T1755_capture_urls': captureUrls,
  '20261122T1800_rejection_minutes': rejectionMinutes,
  '20261122T1900_storage_bytes': storageBytes,
  '20261122T1910_import_batches': importBatches,
  '20261122T1920_bin_evictions': binEvictions,
  '20261122T1930_event_ids': eventIds,
  '20261123T0100_delivery_settings': deliverySettings,
  '20261123T0210_delivery_flows': deliveryFlows,
  '20261123T0300_reconciliations': reconciliations,
  '20261123T0400_event_dedupe': eventDedupe,
  '20261123T0600_event_types': eventTypes,
  '20261123T0605_replays': replays,
  '20261123T0610_event_subscriptions': eventSubscriptions,
  '20261123T0620_oauth': oauth,
  '20261123T0625_oauth_retries': oauthRetries,
  '20261123T0920_relay_endpoints': relayEndpoints,
  '20261123T1000_workspace_moves': workspaceMoves,
  '20261124T0010_store_rules': storeRules,
  '20261124T0100_scripted_answers': scriptedAnswers,
  '20261124T0130_erasures': erasures,
  '20261124T0150_search_pages': searchPages,
  '20261124T0155_replay_item_leases': replayItemLeases,
  '20261124T0200_decoded_text': decodedText,
  '20261124T0205_alert_lanes': alertLanes,
  '20261124T0210_originals': originals,
  '20261124T0215_failing_actions': failingActions,
}
