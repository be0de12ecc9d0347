// Made from the API's description by `bun scripts/clientTypes.ts`: 86eb8287041265070b8102e7360e5fe540fe4e166573c4fa03a79c351cb311ab
import type { MakeCall, MakeStream } from './call.ts'

/** A method for each operation of the API that takes and answers JSON, by its noun. Members of path, query and body are one object. */
export const callsOf = (call: MakeCall) => ({
  me: {
    /** Read the key of this call, its workspace, the plan and its limits */
    get: call<'me_get'>('GET /api/v1/me'),
  },
  endpoints: {
    /** List endpoints, newest first */
    list: call<'endpoints_list'>('GET /api/v1/endpoints'),
    /** Create an endpoint; with `ttlSeconds` an ephemeral one */
    create: call<'endpoints_create'>('POST /api/v1/endpoints'),
    /** Read an endpoint */
    get: call<'endpoints_get'>('GET /api/v1/endpoints/{endpointId}'),
    /** Change the named members of an endpoint */
    update: call<'endpoints_update'>('PATCH /api/v1/endpoints/{endpointId}'),
    /** Delete an endpoint with all its stored requests; irreversible */
    remove: call<'endpoints_remove'>('DELETE /api/v1/endpoints/{endpointId}'),
    /** Read storage, traffic, retention and delivery backlog of an endpoint */
    stats: call<'endpoints_stats'>('GET /api/v1/endpoints/{endpointId}/stats'),
    /** Create a new capture URL; the old one keeps working for a while */
    rotateUrl: call<'endpoints_rotateUrl'>('POST /api/v1/endpoints/{endpointId}/rotate-url'),
    /** Reset the counts of the scripted responses */
    resetResponses: call<'endpoints_resetResponses'>('POST /api/v1/endpoints/{endpointId}/responses/reset'),
    /** Show which scripted response would answer a captured request */
    previewResponses: call<'endpoints_previewResponses'>('POST /api/v1/endpoints/{endpointId}/responses/preview'),
    /** Try what would be stored of a sample or a stored request */
    previewStoring: call<'endpoints_previewStoring'>('POST /api/v1/endpoints/{endpointId}/store-rules/preview'),
    /** Destroy the key of an endpoint’s encrypted requests; irreversible */
    shred: call<'endpoints_shred'>('POST /api/v1/endpoints/{endpointId}/shred'),
    /** Count captures and failures of an endpoint over a period */
    traffic: call<'endpoints_traffic'>('GET /api/v1/endpoints/{endpointId}/traffic'),
  },
  actions: {
    /** List the actions of an endpoint in dispatch order, with the kinds that can be added */
    list: call<'actions_list'>('GET /api/v1/endpoints/{endpointId}/actions'),
    /** Add an action: forward to a URL, or notify through an alert channel */
    create: call<'actions_create'>('POST /api/v1/endpoints/{endpointId}/actions'),
    /** Read success rate, duration and backlog of each action over the last hour */
    health: call<'actions_health'>('GET /api/v1/endpoints/{endpointId}/actions/health'),
    /** Change the named members of an action */
    update: call<'actions_update'>('PUT /api/v1/endpoints/{endpointId}/actions/{actionId}'),
    /** Delete an action with its rules; its queued deliveries are dropped */
    remove: call<'actions_remove'>('DELETE /api/v1/endpoints/{endpointId}/actions/{actionId}'),
    /** Pause a forward action; its deliveries wait */
    pause: call<'actions_pause'>('POST /api/v1/endpoints/{endpointId}/actions/{actionId}/pause'),
    /** Resume a paused action */
    resume: call<'actions_resume'>('POST /api/v1/endpoints/{endpointId}/actions/{actionId}/resume'),
    /** Read an action's backlog and its cause */
    backlog: call<'actions_backlog'>('GET /api/v1/endpoints/{endpointId}/actions/{actionId}/backlog'),
  },
  providers: {
    /** List the recognised providers, sorted by slug */
    list: call<'providers_list'>('GET /api/v1/providers'),
  },
  requests: {
    /** List and search captured requests, newest first unless `order` is `asc` */
    list: call<'requests_list'>('GET /api/v1/endpoints/{endpointId}/requests'),
    /** Move every stored request to the recycle bin */
    clear: call<'requests_clear'>('DELETE /api/v1/endpoints/{endpointId}/requests'),
    /** Wait for a matching request; 204 if none arrives in time */
    await: call<'requests_await'>('GET /api/v1/endpoints/{endpointId}/requests/await'),
    /** Read a captured request by its id only, which is unique in the workspace */
    find: call<'requests_find'>('GET /api/v1/requests/{requestId}'),
    /** Read a captured request in full */
    get: call<'requests_get'>('GET /api/v1/endpoints/{endpointId}/requests/{requestId}'),
    /** Move a captured request to the recycle bin */
    remove: call<'requests_remove'>('DELETE /api/v1/endpoints/{endpointId}/requests/{requestId}'),
    /** List the paths in the newest requests, with types, share and an example */
    shape: call<'requests_shape'>('GET /api/v1/endpoints/{endpointId}/shape'),
    /** Move up to 500 requests to the recycle bin */
    bulkDelete: call<'requests_bulkDelete'>('POST /api/v1/endpoints/{endpointId}/requests/bulk-delete'),
    /** Replay a captured request now, once, and answer with the outcome */
    replay: call<'requests_replay'>('POST /api/v1/endpoints/{endpointId}/requests/{requestId}/replay?actionId?to'),
    /** Send a captured request with changes now, once, and answer with the attempt */
    send: call<'requests_send'>('POST /api/v1/endpoints/{endpointId}/requests/{requestId}/send'),
    /** Queue replays of up to 500 captured requests, with the full retry schedule */
    bulkReplay: call<'requests_bulkReplay'>('POST /api/v1/endpoints/{endpointId}/requests/bulk-replay'),
    /** Confirm the handshake of a sender of CloudEvents by the callback that it gave */
    confirm: call<'requests_confirm'>('POST /api/v1/endpoints/{endpointId}/requests/{requestId}/confirm'),
  },
  deliveries: {
    /** List delivery attempts, newest first, across requests, retries and replays */
    list: call<'deliveries_list'>('GET /api/v1/endpoints/{endpointId}/deliveries'),
    /** Retry a delivery now */
    retryNow: call<'deliveries_retryNow'>('POST /api/v1/endpoints/{endpointId}/deliveries/{attemptId}/retry'),
    /** Skip a dead letter that holds the deliveries of its key */
    skip: call<'deliveries_skip'>('POST /api/v1/endpoints/{endpointId}/deliveries/{attemptId}/skip'),
    /** Read a delivery attempt with its exact request and response */
    get: call<'deliveries_get'>('GET /api/v1/endpoints/{endpointId}/deliveries/{attemptId}'),
    /** Report the answer of a local server to a replayed request */
    report: call<'deliveries_report'>('POST /api/v1/endpoints/{endpointId}/requests/{requestId}/listen-attempts'),
  },
  shareLinks: {
    /** Make a link that shows a captured request to readers without a key */
    create: call<'shareLinks_create'>('POST /api/v1/endpoints/{endpointId}/requests/{requestId}/share-links'),
    /** List the share links that still show their request, newest first */
    list: call<'shareLinks_list'>('GET /api/v1/share-links'),
    /** Revoke a share link: its page answers 404 at once */
    revoke: call<'shareLinks_revoke'>('DELETE /api/v1/share-links/{shareLinkId}'),
  },
  samples: {
    /** List the sample events that can be sent, by provider */
    list: call<'samples_list'>('GET /api/v1/samples'),
    /** Send a sample event to an endpoint, signed with its own secret */
    send: call<'samples_send'>('POST /api/v1/endpoints/{endpointId}/samples'),
  },
  reconcile: {
    /** Compare captures with the sender's event list, and fetch the missing events */
    start: call<'reconcile_start'>('POST /api/v1/endpoints/{endpointId}/reconcile'),
    /** List reconciliations of an endpoint, newest first */
    list: call<'reconcile_list'>('GET /api/v1/endpoints/{endpointId}/reconcile'),
    /** Read a reconciliation, also while it runs */
    get: call<'reconcile_get'>('GET /api/v1/endpoints/{endpointId}/reconcile/{reconciliationId}'),
    /** List gaps in the sequence of the sender's event ids */
    gaps: call<'reconcile_gaps'>('GET /api/v1/endpoints/{endpointId}/gaps'),
  },
  replays: {
    /** Start a replay of many captured requests */
    start: call<'replays_start'>('POST /api/v1/endpoints/{endpointId}/replays'),
    /** List replays of many requests, newest first */
    list: call<'replays_list'>('GET /api/v1/endpoints/{endpointId}/replays'),
    /** Read a replay of many requests, also while it runs */
    get: call<'replays_get'>('GET /api/v1/endpoints/{endpointId}/replays/{replayId}'),
    /** Pause a replay of many requests */
    pause: call<'replays_pause'>('POST /api/v1/endpoints/{endpointId}/replays/{replayId}/pause'),
    /** Resume a paused replay of many requests */
    resume: call<'replays_resume'>('POST /api/v1/endpoints/{endpointId}/replays/{replayId}/resume'),
    /** End a replay of many requests for good */
    cancel: call<'replays_cancel'>('POST /api/v1/endpoints/{endpointId}/replays/{replayId}/cancel'),
    /** List the sends of a replay with their outcomes, in their order */
    results: call<'replays_results'>('GET /api/v1/endpoints/{endpointId}/replays/{replayId}/results'),
    /** Take the requests of a replay that are due, to send them from here */
    take: call<'replays_take'>('POST /api/v1/endpoints/{endpointId}/replays/{replayId}/take'),
    /** Report the answer to a request of a replay that was taken */
    answer: call<'replays_answer'>('POST /api/v1/endpoints/{endpointId}/replays/{replayId}/answer'),
  },
  events: {
    /** List event types, as `events/list` of `/mcp` does */
    types: call<'events_types'>('GET /api/v1/events/types'),
    /** Read events after a cursor, as `events/poll` of `/mcp` does */
    poll: call<'events_poll'>('POST /api/v1/events/poll'),
  },
  subscriptions: {
    /** List event subscriptions, newest first */
    list: call<'subscriptions_list'>('GET /api/v1/subscriptions'),
    /** Subscribe a callback to events, or refresh, as `events/subscribe` of `/mcp` does */
    create: call<'subscriptions_create'>('POST /api/v1/subscriptions'),
    /** Read an event subscription, with its newest messages and their attempts */
    get: call<'subscriptions_get'>('GET /api/v1/subscriptions/{subscriptionId}'),
    /** End an event subscription: nothing more is sent to its callback */
    end: call<'subscriptions_end'>('DELETE /api/v1/subscriptions/{subscriptionId}'),
    /** End the subscription of a callback, as `events/unsubscribe` of `/mcp` does */
    unsubscribe: call<'subscriptions_unsubscribe'>('POST /api/v1/subscriptions/unsubscribe'),
  },
  alertChannels: {
    /** List alert channels, newest first */
    list: call<'alertChannels_list'>('GET /api/v1/alert-channels'),
    /** Add an alert channel, untested; follow with test */
    create: call<'alertChannels_create'>('POST /api/v1/alert-channels'),
    /** List the kinds of channel that this workspace can add */
    kinds: call<'alertChannels_kinds'>('GET /api/v1/alert-channels/kinds'),
    /** List the event kinds that a channel can subscribe to */
    events: call<'alertChannels_events'>('GET /api/v1/alert-channels/events'),
    /** List the event kinds that a channel can subscribe to */
    eventKinds: call<'alertChannels_eventKinds'>('GET /api/v1/alert-channels/event-kinds'),
    /** List the alerts sent in the last 30 days, newest first */
    deliveries: call<'alertChannels_deliveries'>('GET /api/v1/alert-channels/deliveries'),
    /** Read an alert channel */
    get: call<'alertChannels_get'>('GET /api/v1/alert-channels/{id}'),
    /** Change the named members of an alert channel */
    update: call<'alertChannels_update'>('PUT /api/v1/alert-channels/{id}'),
    /** Delete an alert channel; its history and its actions stay */
    remove: call<'alertChannels_remove'>('DELETE /api/v1/alert-channels/{id}'),
    /** Send a real message, also when the channel is off or muted */
    test: call<'alertChannels_test'>('POST /api/v1/alert-channels/{id}/test'),
  },
  recycleBin: {
    /** List deleted requests that can be restored, latest deletion first */
    list: call<'recycleBin_list'>('GET /api/v1/recycle-bin'),
    /** Restore deleted requests, newest first */
    restore: call<'recycleBin_restore'>('POST /api/v1/recycle-bin/restore'),
  },
  transformations: {
    /** Read the rules of a destination, in the order they run */
    getSet: call<'transformations_getSet'>('GET /api/v1/endpoints/{endpointId}/transformations'),
    /** Add a rule; it runs last */
    create: call<'transformations_create'>('POST /api/v1/endpoints/{endpointId}/transformations?actionId'),
    /** Put the rules of a destination in another order */
    order: call<'transformations_order'>('PUT /api/v1/endpoints/{endpointId}/transformations/order?actionId'),
    /** Try a set of rules on a sample or a stored request */
    previewSet: call<'transformations_previewSet'>('POST /api/v1/endpoints/{endpointId}/transformations/preview-set?actionId'),
    /** Read a rule */
    get: call<'transformations_get'>('GET /api/v1/endpoints/{endpointId}/transformations/{ruleId}'),
    /** Save a new version of a rule, switch it on or off, or both */
    update: call<'transformations_update'>('PUT /api/v1/endpoints/{endpointId}/transformations/{ruleId}?actionId'),
    /** Delete a rule with its versions; those after it move up */
    remove: call<'transformations_remove'>('DELETE /api/v1/endpoints/{endpointId}/transformations/{ruleId}'),
    /** List every version of a rule, newest first */
    versions: call<'transformations_versions'>('GET /api/v1/endpoints/{endpointId}/transformations/{ruleId}/versions'),
    /** Restore an old version of a rule, as a new version */
    restore: call<'transformations_restore'>('POST /api/v1/endpoints/{endpointId}/transformations/{ruleId}/versions/{n}/restore?actionId'),
    /** Read the first rule of a destination */
    getFirst: call<'transformations_getFirst'>('GET /api/v1/endpoints/{endpointId}/transformation'),
    /** Add a rule, like POST on the set */
    createFirst: call<'transformations_createFirst'>('POST /api/v1/endpoints/{endpointId}/transformation?actionId'),
    /** Change the first rule of a destination, like PUT on it */
    updateFirst: call<'transformations_updateFirst'>('PUT /api/v1/endpoints/{endpointId}/transformation?actionId'),
    /** Delete the first rule of a destination */
    removeFirst: call<'transformations_removeFirst'>('DELETE /api/v1/endpoints/{endpointId}/transformation'),
    /** Try one rule on a sample or a stored request */
    preview: call<'transformations_preview'>('POST /api/v1/transformations/preview'),
  },
  watchdogs: {
    /** List watchdogs, newest first */
    list: call<'watchdogs_list'>('GET /api/v1/watchdogs'),
    /** Create a watchdog, active at once on the history of its endpoint */
    create: call<'watchdogs_create'>('POST /api/v1/watchdogs'),
    /** Suggest interval and grace from the rhythm of stored captures */
    suggest: call<'watchdogs_suggest'>('GET /api/v1/watchdogs/suggest'),
    /** List the labels of stored captures, most frequent first */
    labels: call<'watchdogs_labels'>('GET /api/v1/watchdogs/labels'),
    /** Read a watchdog */
    get: call<'watchdogs_get'>('GET /api/v1/watchdogs/{id}'),
    /** Change the named members of a watchdog */
    update: call<'watchdogs_update'>('PUT /api/v1/watchdogs/{id}'),
    /** Delete a watchdog */
    remove: call<'watchdogs_remove'>('DELETE /api/v1/watchdogs/{id}'),
    /** Read the timeline of a watchdog: matches, alarms, and outages of the service */
    timeline: call<'watchdogs_timeline'>('GET /api/v1/watchdogs/{id}/timeline'),
    /** Pause or resume a watchdog; resuming restarts its interval now */
    setActive: call<'watchdogs_setActive'>('POST /api/v1/watchdogs/{id}/active'),
  },
  erasures: {
    /** Find and delete everything that holds a value */
    start: call<'erasures_start'>('POST /api/v1/erasures'),
    /** List erasures, newest first */
    list: call<'erasures_list'>('GET /api/v1/erasures'),
    /** Read an erasure, also while it runs */
    get: call<'erasures_get'>('GET /api/v1/erasures/{erasureId}'),
  },
  keys: {
    /** List the API keys of the workspace, newest first, with expired and revoked keys */
    list: call<'keys_list'>('GET /api/v1/keys'),
    /** Create an API key; only this answer shows it */
    create: call<'keys_create'>('POST /api/v1/keys'),
    /** Change the name, the expiry or the networks of an API key */
    update: call<'keys_update'>('PATCH /api/v1/keys/{keyId}'),
    /** Revoke an API key, at once and permanently */
    revoke: call<'keys_revoke'>('DELETE /api/v1/keys/{keyId}'),
    /** Replace an API key with a new one; both work during the overlap */
    rotate: call<'keys_rotate'>('POST /api/v1/keys/{keyId}/rotate'),
  },
  audit: {
    /** List the audit log, newest first */
    list: call<'audit_list'>('GET /api/v1/audit'),
  },
  sessions: {
    /** Create a one-time sign-in link to the console, with the scope of this key */
    signInLink: call<'sessions_signInLink'>('POST /api/v1/sign-in-links'),
  },
  incidents: {
    /** List incidents, newest first */
    list: call<'incidents_list'>('GET /api/v1/incidents'),
  },
  conditions: {
    /** Test a condition on the newest stored requests */
    try: call<'conditions_try'>('POST /api/v1/endpoints/{endpointId}/conditions/preview'),
  },
  verification: {
    /** Test other verification settings on a captured request */
    try: call<'verification_try'>('POST /api/v1/endpoints/{endpointId}/verification/preview'),
  },
  workspace: {
    /** Read the usage of the workspace, with its plan's limits */
    usage: call<'workspace_usage'>('GET /api/v1/usage'),
    /** Count captures and failures of the workspace over a period, by endpoint */
    traffic: call<'workspace_traffic'>('GET /api/v1/traffic'),
  },
})

/** A method for each operation that takes and answers JSON, by its noun. Each rejects with a `CreelError` for a refusal. */
export type Calls = ReturnType<typeof callsOf>

/** A method for each stream of the API, by its noun. */
export const streamsOf = (stream: MakeStream) => ({
  requests: {
    /** Follow the captures and deliveries of an endpoint */
    follow: stream('requests_follow', '/api/v1/endpoints/{endpointId}/requests/stream'),
  },
  replays: {
    /** Follow the progress of a replay, to its end */
    follow: stream('replays_follow', '/api/v1/endpoints/{endpointId}/replays/{replayId}/stream'),
  },
})

/** A method for each stream, by its noun: `streams.requests.follow({ endpointId })`. */
export type Streams = ReturnType<typeof streamsOf>
