// Made from the API's description by `bun run openapi:snapshot`: do not edit.
export interface paths {
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the key of this call, its workspace, the plan and its limits
         * @description Needs a key with the scope `read`.
         */
        get: operations["me_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List endpoints, newest first
         * @description Needs a key with the scope `read`.
         */
        get: operations["endpoints_list"];
        put?: never;
        /**
         * Create an endpoint; with `ttlSeconds` an ephemeral one
         * @description Needs a key with the scope `write`.
         */
        post: operations["endpoints_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an endpoint
         * @description Needs a key with the scope `read`.
         */
        get: operations["endpoints_get"];
        put?: never;
        post?: never;
        /**
         * Delete an endpoint with all its stored requests; irreversible
         * @description Needs a key with the scope `write`.
         */
        delete: operations["endpoints_remove"];
        options?: never;
        head?: never;
        /**
         * Change the named members of an endpoint
         * @description Needs a key with the scope `write`.
         */
        patch: operations["endpoints_update"];
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read storage, traffic, retention and delivery backlog of an endpoint
         * @description Needs a key with the scope `read`.
         */
        get: operations["endpoints_stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/rotate-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a new capture URL; the old one keeps working for a while
         * @description Id, settings and stored requests stay. After `previousUrlUntil` the old URL answers 404. Only the latest old URL keeps working: another rotation ends an older one at once.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["endpoints_rotateUrl"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/traffic": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count captures and failures of an endpoint over a period
         * @description The period is 90 days at most; the beginning of a longer one is cut off.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["endpoints_traffic"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the actions of an endpoint in dispatch order, with the kinds that can be added
         * @description Needs a key with the scope `read`.
         */
        get: operations["actions_list"];
        put?: never;
        /**
         * Add an action: forward to a URL, or notify through an alert channel
         * @description Actions do not chain: each sees the request exactly as it arrived, none waits for another, and one failing never stops the rest.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["actions_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/actions/{actionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change the named members of an action
         * @description An action that is switched off keeps its queued deliveries for 24 hours. They continue when it is switched on again.
         *
         *     Needs a key with the scope `write`.
         */
        put: operations["actions_update"];
        post?: never;
        /**
         * Delete an action with its rules; its queued deliveries are dropped
         * @description Needs a key with the scope `write`.
         */
        delete: operations["actions_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/actions/{actionId}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a forward action; its deliveries wait
         * @description Captures go on. No attempt begins in any process once this has answered, retries included; those under way end. A request is deleted when its retention ends, whether or not it was delivered: the backlog tells how many will be.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["actions_pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/actions/{actionId}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused action
         * @description Needs a key with the scope `write`.
         */
        post: operations["actions_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/actions/{actionId}/backlog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an action's backlog and its cause
         * @description Needs a key with the scope `read`.
         */
        get: operations["actions_backlog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the recognised providers, sorted by slug
         * @description Static reference data: cache it. Slugs are stable.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["providers_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List and search captured requests, newest first
         * @description All filters combine with AND. New arrivals shift pages: to follow an endpoint, hold `afterId` at the largest id already processed, walk the pages, then take the largest id. Ids strictly increase in commit order. A search with filters ends after some seconds, one for a text within 300 ms, with the matches so far: `search` shows its progress, and `next` continues it.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["requests_list"];
        put?: never;
        post?: never;
        /**
         * Move every stored request to the recycle bin
         * @description It takes no filters: a filter of the list in its query is refused, and nothing moves.
         *
         *     Needs a key with the scope `write`.
         */
        delete: operations["requests_clear"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/await": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait for a matching request; 204 if none arrives in time
         * @description Requests that are stored already count: with `afterId` the lowest match above it is answered, without it the newest. With `q` and without `afterId`, stored requests are looked through for about three seconds, the newest first. Counts as one call however long it blocks.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["requests_await"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/requests/{requestId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a captured request by its id only, which is unique in the workspace
         * @description Needs a key with the scope `read`.
         */
        get: operations["requests_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/{requestId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a captured request in full
         * @description Needs a key with the scope `read`.
         */
        get: operations["requests_get"];
        put?: never;
        post?: never;
        /**
         * Move a captured request to the recycle bin
         * @description Needs a key with the scope `write`.
         */
        delete: operations["requests_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/{requestId}/body": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a captured body
         * @description The answer is an attachment of type `application/octet-stream`. A header `Range` with one range gets a part, with 206.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["requests_body"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/shape": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the paths in the newest requests, with types, share and an example
         * @description Paths of bodies, query and headers, in the syntax of conditions and rules; `[*]` is every element of a list.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["requests_shape"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/bulk-delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move up to 500 requests to the recycle bin
         * @description Ids that are not on the endpoint are ignored.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["requests_bulkDelete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/{requestId}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replay a captured request now, once, and answer with the outcome
         * @description With `to=listeners` it goes to every connected listener (`creel listen`), which reports what its server answered as a delivery attempt of kind `listen`. Without `actionId` it goes through every switched-on action whose condition matches; with it, only through that action, whatever its condition. A send that fails is an outcome, not an error.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["requests_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/{requestId}/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a captured request with changes now, once, and answer with the attempt
         * @description Through one forward action, whatever its condition. The capture stays as it is; the attempt, with the trigger `edited`, records the request that was sent. A send that fails is an outcome, not an error.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["requests_send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/bulk-replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Queue replays of up to 500 captured requests, with the full retry schedule
         * @description Ids that are absent, in the recycle bin, oversize or matched by no action are skipped.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["requests_bulkReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/{requestId}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm the handshake of a sender of CloudEvents by the callback that it gave
         * @description For a captured `OPTIONS` with `WebHook-Request-Origin` and `WebHook-Request-Callback`: the URL is called once with GET, as the webhook binding of CloudEvents has it. Private addresses are refused unless the operator allows them. A call that fails is an outcome, not an error. Endpoints with the provider `cloudevents` answer handshakes themselves; the callback is for senders that want it.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["requests_confirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/{requestId}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a captured request as a command, a program, a HAR file or the raw message
         * @description `format` is one of `curl` (a curl command), `fetch` (a call of fetch, for Node, Bun, Deno and browsers), `httpie` (an HTTPie command), `python` (a call of Python requests), `har` (a HAR 1.2 file with one entry), `http` (the raw HTTP message), `k6` (a k6 load script), `vitest` (a Vitest test that sends it to a handler). The programs send it to the capture URL again.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["requests_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List delivery attempts, newest first, across requests, retries and replays
         * @description Needs a key with the scope `read`.
         */
        get: operations["deliveries_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/deliveries/{attemptId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a delivery now
         * @description Takes the place of the next scheduled attempt. Refused if no attempt is scheduled: replay the request instead.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["deliveries_retryNow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/deliveries/{attemptId}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Skip a dead letter that holds the deliveries of its key
         * @description For ordered actions with `onDeadLetter: hold`. The delivery stays a dead letter. A successful replay frees the key as well.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["deliveries_skip"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/deliveries/{attemptId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a delivery attempt with its exact request and response
         * @description The record is kept as long as the attempt, also when its request is evicted to make room for newer ones. It is deleted with a request that is deleted, or removed by retention or a limit in bytes; then `sent` and `received` are null.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["deliveries_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/{requestId}/listen-attempts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report the answer of a local server to a replayed request
         * @description Recorded as a delivery attempt of kind `listen`; `creel listen` does so for every replay.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["deliveries_report"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sample events that can be sent, by provider
         * @description Needs a key with the scope `read`.
         */
        get: operations["samples_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a sample event to an endpoint, signed with its own secret
         * @description The sample is captured like any request: verified, counted against the capture rate, forwarded. Bodies are generated, with new ids each time.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["samples_send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/reconcile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List reconciliations of an endpoint, newest first
         * @description The newest 50 that have ended, and all that still run.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["reconcile_list"];
        put?: never;
        /**
         * Compare captures with the sender's event list, and fetch the missing events
         * @description For endpoints with the provider `stripe` or `github`. An event is missing when no capture of the endpoint has its `eventId`. GitHub is asked to send each missing one again; from Stripe each is captured as fetched: marked `reconciled`, `unverifiable`, and actions run as for any capture. The run continues in the background, one at a time per endpoint. Give `types` if the sender does not send all types to this endpoint, as its list has all types.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["reconcile_start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/reconcile/{reconciliationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a reconciliation, also while it runs
         * @description Needs a key with the scope `read`.
         */
        get: operations["reconcile_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/gaps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List gaps in the sequence of the sender's event ids
         * @description For providers whose ids are documented to be a sequence (`sequence` in `GET /api/v1/providers`). By the newest 10,000 stored captures.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["reconcile_gaps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alert channels, newest first
         * @description Needs a key with the scope `read`.
         */
        get: operations["alertChannels_list"];
        put?: never;
        /**
         * Add an alert channel, untested; follow with test
         * @description Needs a key with the scope `write`.
         */
        post: operations["alertChannels_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-channels/kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the kinds of channel that this workspace can add
         * @description Needs a key with the scope `read`.
         */
        get: operations["alertChannels_kinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-channels/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the event kinds that a channel can subscribe to
         * @description Needs a key with the scope `read`.
         */
        get: operations["alertChannels_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-channels/event-kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the event kinds that a channel can subscribe to
         * @description Alias of `/api/v1/alert-channels/events`.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["alertChannels_eventKinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-channels/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the alerts sent in the last 30 days, newest first
         * @description Needs a key with the scope `read`.
         */
        get: operations["alertChannels_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an alert channel
         * @description Needs a key with the scope `read`.
         */
        get: operations["alertChannels_get"];
        /**
         * Change the named members of an alert channel
         * @description Omit `secret` to keep the credential. Another credential or setting makes it untested.
         *
         *     Needs a key with the scope `write`.
         */
        put: operations["alertChannels_update"];
        post?: never;
        /**
         * Delete an alert channel; its history and its actions stay
         * @description Needs a key with the scope `write`.
         */
        delete: operations["alertChannels_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a real message, also when the channel is off or muted
         * @description A rejected send is 200 with `delivered: false` and the provider's words in `detail`.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["alertChannels_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/recycle-bin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deleted requests that can be restored, latest deletion first
         * @description Needs a key with the scope `read`.
         */
        get: operations["recycleBin_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/recycle-bin/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore deleted requests, newest first
         * @description Restored requests keep their id and their attempts; they run no actions and wake no awaits. Ids that are not in the bin of this workspace are ignored.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["recycleBin_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/transformations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the rules of a destination, in the order they run
         * @description Rules belong to a forward action: the one that `actionId` names, or the first by position. Moving actions changes which set is meant.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["transformations_getSet"];
        put?: never;
        /**
         * Add a rule; it runs last
         * @description Rules belong to a forward action: the one that `actionId` names, or the first by position. Moving actions changes which set is meant. The new rule is version 1 and enabled.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["transformations_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/transformations/order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Put the rules of a destination in another order
         * @description Needs a key with the scope `write`.
         */
        put: operations["transformations_order"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/transformations/preview-set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a set of rules on a sample or a stored request
         * @description Without `rules`, the saved rules that are enabled. Nothing is saved or sent; a fault is a 200. A signing secret is replaced by a dummy.
         *
         *     Needs a key with the scope `read`.
         */
        post: operations["transformations_previewSet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/transformations/{ruleId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a rule
         * @description Needs a key with the scope `read`.
         */
        get: operations["transformations_get"];
        /**
         * Save a new version of a rule, switch it on or off, or both
         * @description An unchanged document creates no new version. Switching on clears `disabledReason`; a new document alone does not switch on.
         *
         *     Needs a key with the scope `write`.
         */
        put: operations["transformations_update"];
        post?: never;
        /**
         * Delete a rule with its versions; those after it move up
         * @description Needs a key with the scope `write`.
         */
        delete: operations["transformations_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/transformations/{ruleId}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List every version of a rule, newest first
         * @description Needs a key with the scope `read`.
         */
        get: operations["transformations_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/transformations/{ruleId}/versions/{n}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore an old version of a rule, as a new version
         * @description History is never rewritten: every restore creates a version, also for a document equal to the current one.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["transformations_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/transformation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the first rule of a destination
         * @description Needs a key with the scope `read`.
         */
        get: operations["transformations_getFirst"];
        /**
         * Change the first rule of a destination, like PUT on it
         * @description Needs a key with the scope `write`.
         */
        put: operations["transformations_updateFirst"];
        /**
         * Add a rule, like POST on the set
         * @description Needs a key with the scope `write`.
         */
        post: operations["transformations_createFirst"];
        /**
         * Delete the first rule of a destination
         * @description Needs a key with the scope `write`.
         */
        delete: operations["transformations_removeFirst"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/transformations/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the JSON Schema 2020-12 of rule documents
         * @description Saving and preview also check rules that the schema cannot express: arity, bytes, places of secrets.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["transformations_schema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/transformations/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try one rule on a sample or a stored request
         * @description Nothing is saved or sent; a fault is a 200. A signing secret is replaced by a dummy.
         *
         *     Needs a key with the scope `read`.
         */
        post: operations["transformations_preview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/watchdogs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List watchdogs, newest first
         * @description Needs a key with the scope `read`.
         */
        get: operations["watchdogs_list"];
        put?: never;
        /**
         * Create a watchdog, active at once on the history of its endpoint
         * @description With a stored match, its clock runs from the newest one, so a history older than interval and grace alarms at the first check. Without one it is `waiting`, and its clock runs from now.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["watchdogs_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/watchdogs/suggest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Suggest interval and grace from the rhythm of stored captures
         * @description Needs a key with the scope `read`.
         */
        get: operations["watchdogs_suggest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/watchdogs/labels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the labels of stored captures, most frequent first
         * @description Needs a key with the scope `read`.
         */
        get: operations["watchdogs_labels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/watchdogs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a watchdog
         * @description Needs a key with the scope `read`.
         */
        get: operations["watchdogs_get"];
        /**
         * Change the named members of a watchdog
         * @description Deadlines are recomputed. Another `match` starts over on its own history; an interval change alone cannot send a second alarm.
         *
         *     Needs a key with the scope `write`.
         */
        put: operations["watchdogs_update"];
        post?: never;
        /**
         * Delete a watchdog
         * @description Needs a key with the scope `write`.
         */
        delete: operations["watchdogs_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/watchdogs/{id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the timeline of a watchdog: matches, alarms, and outages of the service
         * @description Covers the stored captures, by the present match. The period is at most 62 days; the beginning of a longer one is cut off.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["watchdogs_timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/watchdogs/{id}/active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause or resume a watchdog; resuming restarts its interval now
         * @description Needs a key with the scope `write`.
         */
        post: operations["watchdogs_setActive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys of the workspace, newest first, with expired and revoked keys
         * @description Needs a key with the scope `admin`.
         */
        get: operations["keys_list"];
        put?: never;
        /**
         * Create an API key; only this answer shows it
         * @description For a key of one endpoint, other endpoints answer 404, lists have its endpoint only, and routes about the whole workspace answer 403.
         *
         *     Needs a key with the scope `admin`.
         */
        post: operations["keys_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key, at once and permanently
         * @description Its calls answer 401 from now on; streams and sessions that it opened end within 6 s.
         *
         *     Needs a key with the scope `admin`.
         */
        delete: operations["keys_revoke"];
        options?: never;
        head?: never;
        /**
         * Change the name, the expiry or the networks of an API key
         * @description Takes effect with the next call of the key. The scope of a key never changes: create another key.
         *
         *     Needs a key with the scope `admin`.
         */
        patch: operations["keys_update"];
        trace?: never;
    };
    "/api/v1/keys/{keyId}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace an API key with a new one; both work during the overlap
         * @description The new key has the name, scope, endpoint and networks of the old one. A key that has ended, or was rotated before, answers 404.
         *
         *     Needs a key with the scope `admin`.
         */
        post: operations["keys_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the audit log, newest first
         * @description Entries are written in the transaction of the change and never altered. Captures, deliveries, replays and samples are not in it: they are records themselves. Secrets are masked.
         *
         *     Needs a key with the scope `admin`.
         */
        get: operations["audit_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sign-in-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a one-time sign-in link to the console, with the scope of this key
         * @description The link works for 15 minutes. The session ends with the key, and can manage neither contacts nor sessions.
         *
         *     Needs a key with the scope `read`.
         */
        post: operations["sessions_signInLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/incidents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List incidents, newest first
         * @description One incident per outage of a subject, with a running count. Closed incidents are kept as long as alerts.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["incidents_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/conditions/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a condition on the newest stored requests
         * @description Needs a key with the scope `read`.
         */
        post: operations["conditions_try"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/verification/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test other verification settings on a captured request
         * @description The members are those of the endpoint; omitted ones have their saved values. Nothing is saved, and the verdict of the request stays. The time of the check is that of the capture.
         *
         *     Needs a key with the scope `read`.
         */
        post: operations["verification_try"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the usage of the workspace, with its plan's limits
         * @description Needs a key with the scope `read`.
         */
        get: operations["workspace_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/traffic": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count captures and failures of the workspace over a period, by endpoint
         * @description The period is 90 days at most; the beginning of a longer one is cut off.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["workspace_traffic"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export every matching request, oldest first, in a stream
         * @description The filters of the list. `ndjson` has everything that arrived, byte for byte, and can be imported; `har` is a HAR 1.2 file. Requests that arrive during the export are left out.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["requests_exportMany"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store requests that were exported as NDJSON, with their times
         * @description They are marked as `imported`, get new ids, and are never dispatched. All lines are stored or none: every line is checked before the first is stored, and the first 50 parts that are wrong are named. Imports of a workspace take turns.
         *
         *     Needs a key with the scope `write`.
         */
        post: operations["requests_import"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/endpoints/{endpointId}/requests/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the captures and deliveries of an endpoint
         * @description Without `Last-Event-ID`, `lastEventId` and `afterId` the stream begins now; with one of them, after that request, and nothing in between is missed. The filters look at each request as it arrived. The service ends a stream when it stops, and when the key is revoked: reconnect with the last id.
         *
         *     Needs a key with the scope `read`.
         */
        get: operations["requests_follow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Action: {
            /** Format: uuid */
            id: string;
            kind: string;
            name: string;
            position: number;
            url: string | null;
            /** @description Always false for notify */
            appendPath: boolean;
            /** @description Always false for notify */
            appendQuery: boolean;
            isActive: boolean;
            suspendedByPlan: boolean;
            /** @description As it was written; `{}` = always */
            condition: Record<string, never> | components["schemas"]["InnerCondition"];
            conditionDescription: string;
            signing: {
                /** @enum {string} */
                scheme: "creel" | "standard-webhooks";
                signed: boolean;
                /** @description When the secret or its scheme was set */
                setAt: string | null;
            };
            /** @description Credentials for the receiver; `none` for notify */
            auth: components["schemas"]["ActionAuth"];
            /** @description Null without any, and for notify */
            tls: components["schemas"]["ActionTls"] | null;
            /** @description Start of the pause; null = not paused */
            pausedAt: string | null;
            /** @description Null = the defaults of the installation, and for notify */
            delivery: components["schemas"]["DeliveryPolicy"] | null;
            ruleCount: number;
            alertChannelId: string | null;
            alertChannelName: string | null;
            messageTemplate: string | null;
            channelUnavailable: boolean;
            /** @description Always null in v1 */
            apiRequestId: null;
            /** @description Always null in v1 */
            apiRequestName: null;
            /** @description Always {} in v1 */
            slotMapping: {
                [key: string]: string;
            };
            /** @description Always false in v1 */
            requestUnavailable: boolean;
        };
        ActionAuth: {
            /** @enum {string} */
            kind: "none" | "bearer" | "basic" | "header" | "oauth2ClientCredentials";
            /** @description Whether there is a secret */
            isSet: boolean;
            /** @description When the credentials were last set */
            setAt: string | null;
            username: string | null;
            name: string | null;
            tokenUrl: string | null;
            clientId: string | null;
            scope: string | null;
        };
        ActionList: {
            actions: components["schemas"]["Action"][];
            /** @description Actions of all kinds that the plan has room for */
            limit: number;
            canAddMore: boolean;
            options: {
                kinds: ("forward" | "notify")[];
                channels: {
                    /** Format: uuid */
                    id: string;
                    name: string;
                    kind: string;
                    isEnabled: boolean;
                    isConfigured: boolean;
                }[];
                canCreateChannel: boolean;
                planName: string;
            };
        };
        ActionTls: {
            clientCertificate: string | null;
            certificateAuthority: string | null;
            /** @description Whether there is a client key */
            isSet: boolean;
            setAt: string | null;
            /** @description Subject of the client certificate */
            subject: string | null;
            /**
             * Format: date-time
             * @description Expiry of the client certificate or of the last CA, whichever is earlier. An alert is sent 14 days before
             */
            expiresAt: string;
        };
        AlertChannel: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            kind: "slack" | "discord" | "teams" | "googlechat" | "telegram" | "pagerduty" | "opsgenie" | "ntfy" | "webhook";
            name: string;
            enabled: boolean;
            /** @enum {string} */
            health: "untested" | "verified" | "failing";
            credentialSet: boolean;
            credentialSetAt: string | null;
            /** @description Whether the channel has all that a send needs */
            connected: boolean;
            /** @description Destination, without secrets */
            destination: string | null;
            settings: {
                [key: string]: unknown;
            };
            mutedUntil: string | null;
            events: {
                /** @enum {string} */
                kind: "delivery.parked" | "delivery.recovered" | "action.paused" | "certificate.expiring" | "certificate.renewed" | "delivery.held" | "delivery.released" | "delivery.backlog" | "delivery.drained" | "breaker.opened" | "breaker.closed" | "transformation.disabled" | "watchdog.alarmed" | "watchdog.recovered" | "capture.rejected" | "reconcile.gap" | "action.notify";
                /** @enum {string} */
                minSeverity: "info" | "warning" | "error" | "critical";
            }[];
            lastSuccessAt: string | null;
            lastFailureAt: string | null;
            lastError: string | null;
            consecutiveFailures: number;
            /** Format: date-time */
            createdAt: string;
        };
        AlertChannelKind: {
            /** @enum {string} */
            kind: "slack" | "discord" | "teams" | "googlechat" | "telegram" | "pagerduty" | "opsgenie" | "ntfy" | "webhook";
            displayName: string;
            credentialLabel: string;
            credentialRequired: boolean;
            fields: {
                name: string;
                label: string;
                /** @enum {string} */
                type: "string" | "integer" | "url" | "select" | "headers";
                required: boolean;
                options: string[] | null;
                help: string | null;
            }[];
        };
        AlertChannelPage: {
            items: components["schemas"]["AlertChannel"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
        };
        AlertChannelTestResult: {
            delivered: boolean;
            /** @description The provider's words when it was rejected */
            detail: string | null;
            statusCode: number | null;
            durationMs: number;
        };
        /**
         * @example {
         *       "id": 7001,
         *       "at": "2026-11-21T10:00:00.000Z",
         *       "eventKind": "delivery.parked",
         *       "severity": "error",
         *       "subjectType": "action",
         *       "subjectId": "5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10",
         *       "subjectName": "Billing",
         *       "channelId": "7a0f8f0e-3d1e-4a43-9a57-0a7b3f2f9d11",
         *       "channelName": "Ops",
         *       "channelKind": "slack",
         *       "outcome": "delivered",
         *       "detail": null,
         *       "statusCode": 200,
         *       "durationMs": 140,
         *       "count": 1,
         *       "emailFallback": false,
         *       "requestId": 90117
         *     }
         */
        AlertDelivery: {
            id: number;
            /** Format: date-time */
            at: string;
            /** @enum {string} */
            eventKind: "delivery.parked" | "delivery.recovered" | "action.paused" | "certificate.expiring" | "certificate.renewed" | "delivery.held" | "delivery.released" | "delivery.backlog" | "delivery.drained" | "breaker.opened" | "breaker.closed" | "transformation.disabled" | "watchdog.alarmed" | "watchdog.recovered" | "capture.rejected" | "reconcile.gap" | "action.notify" | "channel.test";
            /** @enum {string} */
            severity: "info" | "warning" | "error" | "critical";
            subjectType: string;
            /** Format: uuid */
            subjectId: string;
            subjectName: string;
            /** @description Null for plain e-mail */
            channelId: string | null;
            channelName: string | null;
            /** @description A channel kind, or `email` */
            channelKind: string;
            /** @enum {string} */
            outcome: "delivered" | "failed" | "muted" | "suppressed";
            detail: string | null;
            statusCode: number | null;
            durationMs: number | null;
            /** @description Running count of a dead-letter incident */
            count: number;
            /** @description Sent by e-mail because a channel was failing */
            emailFallback: boolean;
            requestId: number | null;
        };
        AlertDeliveryPage: {
            items: components["schemas"]["AlertDelivery"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
        };
        AlertEvent: {
            /** @enum {string} */
            kind: "delivery.parked" | "delivery.recovered" | "action.paused" | "certificate.expiring" | "certificate.renewed" | "delivery.held" | "delivery.released" | "delivery.backlog" | "delivery.drained" | "breaker.opened" | "breaker.closed" | "transformation.disabled" | "watchdog.alarmed" | "watchdog.recovered" | "capture.rejected" | "reconcile.gap" | "action.notify";
            displayName: string;
            description: string;
            /** @enum {string} */
            defaultSeverity: "info" | "warning" | "error" | "critical";
            subjectType: string;
            subscribable: boolean;
        };
        AllTraffic: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            buckets: {
                /** Format: date-time */
                from: string;
                /** @description Captures that are still stored */
                capturedCount: number;
                /** @description Attempts that failed */
                failedCount: number;
                /** @description Captures that were refused for the rate, counted by the minute and kept for 90 days */
                rejectedCount: number;
                /** @description Duplicates that `dedupe` did not store, counted by the minute and kept for 90 days */
                discardedCount: number;
            }[];
            /** @description Endpoints with captures, failures or refusals */
            endpoints: {
                /** Format: uuid */
                endpointId: string;
                /** @description Captures that are still stored */
                capturedCount: number;
                /** @description Attempts that failed */
                failedCount: number;
                /** @description Captures that were refused for the rate, counted by the minute and kept for 90 days */
                rejectedCount: number;
                /** @description Duplicates that `dedupe` did not store, counted by the minute and kept for 90 days */
                discardedCount: number;
            }[];
        };
        ApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            prefix: string;
            /**
             * @description `read` reads, `write` also changes, `admin` also manages keys and reads the audit log
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /** @description The endpoint that the key is limited to; null: none */
            endpointId: string | null;
            /** @description CIDRs that may use the key; null: all */
            allowedNetworks: string[] | null;
            /** Format: date-time */
            createdAt: string;
            /** @description Expiry of the key; null: never */
            expiresAt: string | null;
            revokedAt: string | null;
            /** @description To the minute; null for never */
            lastUsedAt: string | null;
            /** @description The key that replaced it by rotation */
            replacedById: string | null;
        };
        Argument: string | number | boolean | {
            /** @description Any JSON value. */
            literal: unknown;
        } | {
            /** @enum {unknown} */
            fn: "concat" | "lower" | "upper" | "trim" | "replace" | "substring" | "split" | "join" | "padStart" | "length" | "toText" | "toNumber" | "toBoolean" | "parseJson" | "toJson" | "add" | "multiply" | "subtract" | "divide" | "modulo" | "round" | "floor" | "ceil" | "abs" | "min" | "max" | "sum" | "coalesce" | "get" | "first" | "last" | "count" | "base64Encode" | "base64UrlEncode" | "hexEncode" | "urlEncode" | "base64Decode" | "base64UrlDecode" | "hexDecode" | "urlDecode" | "md5" | "sha1" | "sha256" | "sha512" | "hmacSha1" | "hmacSha256" | "hmacSha512" | "now" | "formatDate" | "toUnix" | "fromUnix" | "addSeconds" | "uuid";
            args: components["schemas"]["Argument"][];
        } | {
            /** @enum {unknown} */
            secret: "signing";
            /** @enum {unknown} */
            decode?: "base64";
        } | {
            /** @enum {unknown} */
            raw: "body";
        } | null;
        AuditEntry: {
            id: number;
            /** Format: date-time */
            at: string;
            actor: {
                /**
                 * @description `key`: a call with a key; `session`: a browser that is signed in; `operator`: a command; `service`: Creel by itself
                 * @enum {string}
                 */
                kind: "key" | "session" | "operator" | "service";
                /** @description Id of the key or the session */
                id: string | null;
                /** @description Name at that time */
                name: string;
                /** @description Address of the caller */
                address: string | null;
            };
            /** @description Trace id of the call; the same in the log of the service */
            traceId: string | null;
            /** @description Name of the procedure, such as `endpoints.update` */
            action: string;
            subject: {
                type: string;
                id: string;
                name: string | null;
            };
            endpointId: string | null;
            /** @description The members that changed, as they were; null before a creation */
            before: {
                [key: string]: unknown;
            } | null;
            /** @description The members that changed, as they are; null after a deletion */
            after: {
                [key: string]: unknown;
            } | null;
        };
        AuditEntryPage: {
            items: components["schemas"]["AuditEntry"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
        };
        Backlog: {
            /** @description Deliveries that wait; 100000 stands for more */
            waiting: number;
            /** @description Attempts under way, over all processes */
            inFlight: number;
            /** @description When the oldest waiting delivery was queued */
            oldestWaitingAt: string | null;
            /** @description Deliveries that wait for an earlier one of their key */
            keysWaiting: number;
            /** @description Keys that a dead letter stops, oldest first, at most 100 */
            keysHeld: {
                key: string;
                requestId: number;
                /** @description The last attempt: the input of a skip */
                attemptId: number | null;
                /** Format: date-time */
                since: string;
            }[];
            breaker: {
                /** @enum {string} */
                state: "closed" | "open" | "probing";
                openedAt: string | null;
                nextProbeAt: string | null;
            };
            /** @description The current rate: of the settings, or of a resume. Null = none */
            rate: {
                count: number;
                perSeconds: number;
            } | null;
            pausedAt: string | null;
            /** @description The receiver asked that nothing starts before */
            notBefore: string | null;
            /** @description Estimated end of the backlog at the current rate; null without a rate or while paused */
            drainsAt: string | null;
            /** @description Waiting deliveries that retention deletes before `drainsAt`, or within 24 hours if that is null */
            expiring: number;
        };
        /**
         * @example {
         *       "id": 90117,
         *       "endpointId": "0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33",
         *       "endpointName": "stripe-ci",
         *       "method": "POST",
         *       "path": "/eu",
         *       "label": "invoice.paid",
         *       "contentType": "application/json",
         *       "sizeBytes": 412,
         *       "receivedAt": "2026-11-21T09:15:00.123Z",
         *       "deletedAt": "2026-11-22T08:00:00.000Z",
         *       "purgesAt": "2026-11-29T08:00:00.000Z"
         *     }
         */
        BinnedRequest: {
            id: number;
            /** Format: uuid */
            endpointId: string;
            endpointName: string;
            method: string;
            path: string;
            label: string | null;
            contentType: string | null;
            sizeBytes: number;
            /** Format: date-time */
            receivedAt: string;
            /** Format: date-time */
            deletedAt: string;
            /**
             * Format: date-time
             * @description Time of permanent deletion; earlier if the storage limit is reached, see `evicted`
             */
            purgesAt: string;
        };
        BinnedRequestPage: {
            items: components["schemas"]["BinnedRequest"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
            /** @description Requests deleted permanently before their `purgesAt`: at `CREEL_STORAGE_MAX` the bin is emptied first */
            evicted: {
                count: number;
                /** @description Time of the latest eviction; null: none */
                lastAt: string | null;
            };
        };
        BulkReplayResult: {
            /** @description Requests queued */
            queuedCount: number;
            /** @description Deliveries made of them */
            deliveryCount: number;
            /** @description Ids passed over */
            skippedCount: number;
        };
        /**
         * @example {
         *       "id": 90117,
         *       "endpointId": "0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33",
         *       "receivedAt": "2026-11-21T09:15:00.123Z",
         *       "method": "POST",
         *       "path": "/eu",
         *       "contentType": "application/json",
         *       "sizeBytes": 36,
         *       "ip": "203.0.113.7",
         *       "userAgent": "Stripe/1.0",
         *       "label": "invoice.paid",
         *       "eventId": "evt_1",
         *       "senderAttempt": 1,
         *       "firstRequestId": null,
         *       "duplicateOf": null,
         *       "bodyTruncated": false,
         *       "bodyIsBinary": false,
         *       "bodyPreview": "{\"id\":\"evt_1\",\"type\":\"invoice.paid\"}",
         *       "verification": {
         *         "verdict": "verified",
         *         "note": "stripe-signature matches; timestamp 2 s old."
         *       },
         *       "state": "Succeeded",
         *       "attemptCount": 1,
         *       "imported": false,
         *       "reconciled": false,
         *       "url": "https://in.acme.dev/hook/0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33/eu?x=1&x=2",
         *       "queryString": "x=1&x=2",
         *       "query": {
         *         "x": [
         *           "1",
         *           "2"
         *         ]
         *       },
         *       "headers": {
         *         "Content-Type": "application/json"
         *       },
         *       "rawHeaders": [
         *         {
         *           "name": "Content-Type",
         *           "value": "application/json"
         *         }
         *       ],
         *       "body": "{\"id\":\"evt_1\",\"type\":\"invoice.paid\"}",
         *       "bodyOmitted": false,
         *       "bodyKind": "json",
         *       "deliveries": [
         *         {
         *           "actionId": "5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10",
         *           "actionName": "Billing",
         *           "kind": "forward",
         *           "state": "Succeeded",
         *           "attemptCount": 1,
         *           "lastAttemptAt": "2026-11-21T09:15:00.310Z",
         *           "nextAttemptAt": null
         *         }
         *       ]
         *     }
         */
        CapturedRequest: {
            id: number;
            /** Format: uuid */
            endpointId: string;
            /** Format: date-time */
            receivedAt: string;
            method: string;
            path: string;
            contentType: string | null;
            sizeBytes: number;
            ip: string | null;
            userAgent: string | null;
            label: string | null;
            /** @description The sender's own id of the event, the same each time it is sent; of one over 200 bytes `sha256:` and its digest in hex. Null where there is none */
            eventId: string | null;
            /** @description Attempt number of the sender: requests with this event id that are stored, this one included; 100: that or more. Null without `eventId`, and for `imported` */
            senderAttempt: number | null;
            /** @description The first stored request of the same event; null for the first itself */
            firstRequestId: number | null;
            /** @description With `dedupe` of the endpoint: the request that came first, of which this is a duplicate; that one may be gone. Null for the first */
            duplicateOf: number | null;
            /** @description An oversize trace: only a prefix of the body is kept */
            bodyTruncated: boolean;
            bodyIsBinary: boolean;
            /** @description First 200 characters of a text body */
            bodyPreview: string | null;
            verification: {
                /** @enum {string} */
                verdict: "verified" | "failed" | "unsigned" | "unverifiable";
                note: string;
            } | null;
            /** @enum {string} */
            state: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted" | "NotAttempted" | "Skipped";
            attemptCount: number;
            /** @description It did not arrive here: it was imported, and was never dispatched */
            imported: boolean;
            /** @description It did not arrive here: a reconciliation fetched it from its sender's list. It was dispatched like any other */
            reconciled: boolean;
            url: string;
            queryString: string | null;
            rawHeaders: {
                name: string;
                value: string;
                /**
                 * @description Only where the value is not UTF-8: then each character of `value` is one byte
                 * @constant
                 */
                encoding?: "latin1";
            }[];
            /** @description Text, or base64 when `bodyIsBinary`; null when empty */
            body: string | null;
            query: {
                [key: string]: string[];
            };
            headers: {
                [key: string]: string;
            };
            /** @description Type of the body for conditions and rules, independent of `contentType`; null when empty or left out */
            bodyKind: ("json" | "form" | "multipart" | "text" | "binary") | null;
            /** @description The body is longer than `bodyBytesMax`: `body` is null, `…/body` has it */
            bodyOmitted: boolean;
            deliveries: {
                actionId: string | null;
                actionName: string;
                kind: string;
                state: string;
                attemptCount: number;
                lastAttemptAt: string | null;
                nextAttemptAt: string | null;
            }[];
        };
        /**
         * @example {
         *       "id": 90117,
         *       "endpointId": "0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33",
         *       "receivedAt": "2026-11-21T09:15:00.123Z",
         *       "method": "POST",
         *       "path": "/eu",
         *       "contentType": "application/json",
         *       "sizeBytes": 36,
         *       "ip": "203.0.113.7",
         *       "userAgent": "Stripe/1.0",
         *       "label": "invoice.paid",
         *       "eventId": "evt_1",
         *       "senderAttempt": 1,
         *       "firstRequestId": null,
         *       "duplicateOf": null,
         *       "bodyTruncated": false,
         *       "bodyIsBinary": false,
         *       "bodyPreview": "{\"id\":\"evt_1\",\"type\":\"invoice.paid\"}",
         *       "verification": {
         *         "verdict": "verified",
         *         "note": "stripe-signature matches; timestamp 2 s old."
         *       },
         *       "state": "Succeeded",
         *       "attemptCount": 1,
         *       "imported": false,
         *       "reconciled": false
         *     }
         */
        CapturedRequestSummary: {
            id: number;
            /** Format: uuid */
            endpointId: string;
            /** Format: date-time */
            receivedAt: string;
            method: string;
            path: string;
            contentType: string | null;
            sizeBytes: number;
            ip: string | null;
            userAgent: string | null;
            label: string | null;
            /** @description The sender's own id of the event, the same each time it is sent; of one over 200 bytes `sha256:` and its digest in hex. Null where there is none */
            eventId: string | null;
            /** @description Attempt number of the sender: requests with this event id that are stored, this one included; 100: that or more. Null without `eventId`, and for `imported` */
            senderAttempt: number | null;
            /** @description The first stored request of the same event; null for the first itself */
            firstRequestId: number | null;
            /** @description With `dedupe` of the endpoint: the request that came first, of which this is a duplicate; that one may be gone. Null for the first */
            duplicateOf: number | null;
            /** @description An oversize trace: only a prefix of the body is kept */
            bodyTruncated: boolean;
            bodyIsBinary: boolean;
            /** @description First 200 characters of a text body */
            bodyPreview: string | null;
            verification: {
                /** @enum {string} */
                verdict: "verified" | "failed" | "unsigned" | "unverifiable";
                note: string;
            } | null;
            /** @enum {string} */
            state: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted" | "NotAttempted" | "Skipped";
            attemptCount: number;
            /** @description It did not arrive here: it was imported, and was never dispatched */
            imported: boolean;
            /** @description It did not arrive here: a reconciliation fetched it from its sender's list. It was dispatched like any other */
            reconciled: boolean;
        };
        CapturedRequestSummaryPage: {
            items: components["schemas"]["CapturedRequestSummary"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
            /** @description Null without filters */
            search: {
                /** @description Whether all requests after the cursor were searched. If not, `next` continues the search, also from a page that is not full */
                complete: boolean;
                /** @description Number of stored requests that this call searched */
                lookedThrough: number;
                /** @description Number of matches among them */
                matchedCount: number;
                /** @description Everything that matches; null when not all of it was looked through: then `totalCount` of the page is an estimate */
                totalCount: number | null;
            } | null;
        };
        ConditionPreview: {
            /** @description Fewer than asked for where fewer are stored, or they are large */
            testedCount: number;
            /** @description The newest first */
            matched: {
                count: number;
                firstIds: number[];
            };
            /** @description The newest first */
            notMatched: {
                count: number;
                firstIds: number[];
            };
            /** @description Lists the paths that none of these requests have */
            note: string | null;
        };
        Dedupe: {
            /** @description What they have in common: `event`, the event id, or the path of a value like `body.order.id` */
            by: string;
            /** @description For so long after the first; at most as long as requests are kept */
            windowSeconds: number;
            /**
             * @description `mark` only shows it; `skip` stores the duplicate and runs no action; `discard` counts it and stores nothing. The sender is answered as for the first
             * @enum {string}
             */
            then: "mark" | "skip" | "discard";
        };
        /**
         * @example {
         *       "id": 554013,
         *       "requestId": 90117,
         *       "actionId": "5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10",
         *       "actionName": "Billing",
         *       "kind": "forward",
         *       "state": "Failed",
         *       "statusCode": 503,
         *       "error": "http_503",
         *       "url": "https://app.acme.dev/hooks",
         *       "at": "2026-11-21T09:15:00.310Z",
         *       "finishedAt": "2026-11-21T09:15:00.502Z",
         *       "durationMs": 192,
         *       "attemptNumber": 1,
         *       "trigger": "capture",
         *       "nextAttemptAt": "2026-11-21T09:15:05.700Z",
         *       "hasDetail": true,
         *       "transformed": true,
         *       "transformationVersion": 3
         *     }
         */
        DeliveryAttempt: {
            /** @description Id for the detail route */
            id: number;
            requestId: number;
            /** @description Null once the action was deleted */
            actionId: string | null;
            actionName: string;
            kind: string;
            /** @enum {string} */
            state: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted";
            statusCode: number | null;
            /** @description Null when it succeeded; starts with a stable word: http_404, timeout, dns, … */
            error: string | null;
            url: string;
            /**
             * Format: date-time
             * @description When it began
             */
            at: string;
            finishedAt: string | null;
            durationMs: number | null;
            attemptNumber: number;
            /** @enum {string} */
            trigger: "capture" | "retry" | "replay" | "bulkReplay" | "edited";
            nextAttemptAt: string | null;
            /** @description Whether the full record exists */
            hasDetail: boolean;
            transformed: boolean;
            /** @description Set when exactly one rule was in force; with several, `transformNote` names each */
            transformationVersion: number | null;
        };
        DeliveryAttemptDetail: {
            /** @description Id for the detail route */
            id: number;
            requestId: number;
            /** @description Null once the action was deleted */
            actionId: string | null;
            actionName: string;
            kind: string;
            /** @enum {string} */
            state: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted";
            statusCode: number | null;
            /** @description Null when it succeeded; starts with a stable word: http_404, timeout, dns, … */
            error: string | null;
            url: string;
            /**
             * Format: date-time
             * @description When it began
             */
            at: string;
            finishedAt: string | null;
            durationMs: number | null;
            attemptNumber: number;
            /** @enum {string} */
            trigger: "capture" | "retry" | "replay" | "bulkReplay" | "edited";
            nextAttemptAt: string | null;
            /** @description Whether the full record exists */
            hasDetail: boolean;
            transformed: boolean;
            /** @description Set when exactly one rule was in force; with several, `transformNote` names each */
            transformationVersion: number | null;
            /** Format: uuid */
            endpointId: string;
            transformNote: string | null;
            sent: {
                method: string;
                url: string;
                /** @description By name; repeats joined with ", " */
                headers: {
                    [key: string]: string;
                };
                /** @description As on the wire: order, spelling and repeats */
                rawHeaders: {
                    name: string;
                    value: string;
                }[];
                /** @description Text, or base64 when `bodyIsBinary`; null when empty */
                body: string | null;
                bodyIsBinary: boolean;
                /** @description Longer than 256 KB: only the beginning is kept */
                bodyTruncated: boolean;
            } | null;
            received: {
                statusCode: number;
                contentType: string | null;
                /** @description By name; repeats joined with ", " */
                headers: {
                    [key: string]: string;
                };
                /** @description As on the wire: order, spelling and repeats */
                rawHeaders: {
                    name: string;
                    value: string;
                }[];
                /** @description Text, or base64 when `bodyIsBinary`; null when empty */
                body: string | null;
                bodyIsBinary: boolean;
                /** @description Longer than 256 KB: only the beginning is kept */
                bodyTruncated: boolean;
            } | null;
        };
        DeliveryAttemptPage: {
            items: components["schemas"]["DeliveryAttempt"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
        };
        DeliveryPolicy: {
            /** @description Seconds that a whole attempt may take */
            timeoutSeconds?: number | null;
            /** @description Attempts in flight at once, over all processes */
            concurrency?: number | null;
            /** @description Attempts that may start in any period of `perSeconds`, over all processes */
            rate?: {
                count: number;
                perSeconds: number;
            } | null;
            /** @description Deliveries of one key go out one after the other, in the order of the requests */
            order?: {
                /** @description The path of the key, like `body.customer.id`, or `endpoint` */
                by: string;
                /**
                 * @description After a dead letter, deliveries of its key continue, or wait for a replay or skip
                 * @default continue
                 * @enum {string}
                 */
                onDeadLetter: "continue" | "hold";
            } | null;
            /** @description When another attempt follows. Transport errors are always retried */
            retry?: {
                /** @description Times between one attempt and the next; none = no retry */
                delays?: string[] | null;
                /** @description Statuses that are retried; default each but 2xx and 410 */
                on?: (number | ("3xx" | "4xx" | "5xx"))[] | null;
            } | null;
            /** @description After so many failures in the window, only probes go out until one succeeds */
            breaker?: {
                failures: number;
                windowSeconds: number;
                probeEverySeconds: number;
            } | null;
            /** @description An incident opens while a delivery has waited for longer */
            backlogAlertSeconds?: number | null;
            /** @description Effect of a 410: end the delivery, or also pause the action; default `end` */
            gone?: ("end" | "pause") | null;
        };
        /**
         * @example {
         *       "id": "0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33",
         *       "name": "stripe-ci",
         *       "url": "https://in.acme.dev/hook/0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33",
         *       "isActive": true,
         *       "suspendedByPlan": false,
         *       "createdAt": "2026-11-21T09:00:00.000Z",
         *       "lastRequestAt": "2026-11-21T09:15:00.123Z",
         *       "expiresAt": null,
         *       "expired": false,
         *       "storedRequestCount": 812,
         *       "responseStatusCode": 202,
         *       "responseContentType": "application/json",
         *       "responseHeaders": {},
         *       "responseBody": "{\"received\":true}",
         *       "provider": "stripe",
         *       "eventIdPath": null,
         *       "dedupe": {
         *         "by": "event",
         *         "windowSeconds": 86400,
         *         "then": "skip"
         *       },
         *       "rejectUnverified": false,
         *       "allowedSenders": [],
         *       "forwardingEnabled": true,
         *       "forwardUrl": "https://app.acme.dev/hooks",
         *       "forwardSigning": {
         *         "signed": true,
         *         "setAt": "2026-11-21T09:00:00.000Z"
         *       },
         *       "verification": {
         *         "source": "preset",
         *         "scheme": "stripe",
         *         "family": "hmac",
         *         "secretLabel": "Signing secret",
         *         "secretSet": true,
         *         "secretSetAt": "2026-11-21T09:00:00.000Z",
         *         "handshakeTokenSet": false,
         *         "handshakeTokenNeeded": false,
         *         "manual": null
         *       },
         *       "previousUrlUntil": null
         *     }
         */
        Endpoint: {
            /** Format: uuid */
            id: string;
            name: string;
            /** Format: uri */
            url: string;
            isActive: boolean;
            suspendedByPlan: boolean;
            /** Format: date-time */
            createdAt: string;
            lastRequestAt: string | null;
            expiresAt: string | null;
            /** @description Past `expiresAt`: senders get 404; swept some minutes later */
            expired: boolean;
            storedRequestCount: number;
            responseStatusCode: number;
            responseContentType: string;
            responseHeaders: {
                [key: string]: string;
            };
            responseBody: string;
            provider: string | null;
            /** @description Null: the path of the provider */
            eventIdPath: string | null;
            /** @description Null: every event is captured each time that it comes */
            dedupe: components["schemas"]["Dedupe"] | null;
            rejectUnverified: boolean;
            allowedSenders: string[];
            /** @deprecated */
            forwardingEnabled: boolean;
            /** @deprecated */
            forwardUrl: string | null;
            /** @deprecated */
            forwardSigning: {
                signed: boolean;
                setAt: string | null;
            };
            verification: {
                /** @enum {string} */
                source: "none" | "preset" | "manual";
                scheme: string | null;
                family: string | null;
                secretLabel: string | null;
                secretSet: boolean;
                secretSetAt: string | null;
                handshakeTokenSet: boolean;
                handshakeTokenNeeded: boolean;
                manual: {
                    header: string;
                    algorithm: string;
                    encoding: string;
                    prefix: string;
                } | null;
            };
            /** @description Until this time the previous capture URL keeps working; null: it does not */
            previousUrlUntil: string | null;
        };
        EndpointPage: {
            items: components["schemas"]["Endpoint"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
        };
        /**
         * @example {
         *       "endpointId": "0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33",
         *       "storage": {
         *         "storedRequestCount": 812,
         *         "storedRequestsMax": 1000,
         *         "storedBytes": 934112,
         *         "binnedRequestCount": 3,
         *         "evictedCount": 40,
         *         "oldestRequestAt": "2026-11-10T00:00:01.000Z"
         *       },
         *       "traffic": {
         *         "lastRequestAt": "2026-11-21T09:15:00.123Z",
         *         "requestsLastHourCount": 12,
         *         "requestsLastDayCount": 201,
         *         "rejectedCount": 5,
         *         "lastRejectedAt": "2026-11-20T12:00:00.000Z",
         *         "refusedCount": 0,
         *         "lastRefusedAt": null,
         *         "discardedCount": 0,
         *         "lastDiscardedAt": null,
         *         "lastRefusal": null
         *       },
         *       "retention": {
         *         "retentionDays": 14,
         *         "expiresAt": null
         *       },
         *       "backlog": {
         *         "pendingCount": 2,
         *         "retryingCount": 1,
         *         "parkedCount": 0,
         *         "oldestPendingAt": "2026-11-21T09:14:58.000Z",
         *         "nextAttemptAt": "2026-11-21T09:15:05.700Z"
         *       }
         *     }
         */
        EndpointStats: {
            /** Format: uuid */
            endpointId: string;
            storage: {
                storedRequestCount: number;
                storedRequestsMax: number;
                /** @description Bodies of stored requests */
                storedBytes: number;
                binnedRequestCount: number;
                /** @description Lost to the cap since creation */
                evictedCount: number;
                oldestRequestAt: string | null;
            };
            traffic: {
                lastRequestAt: string | null;
                requestsLastHourCount: number;
                requestsLastDayCount: number;
                /** @description Captures answered 429 since creation */
                rejectedCount: number;
                lastRejectedAt: string | null;
                /** @description Captures refused with 401 or 403 since creation */
                refusedCount: number;
                lastRefusedAt: string | null;
                /** @description Duplicates that `dedupe` counted and did not store, since creation */
                discardedCount: number;
                lastDiscardedAt: string | null;
                /** @description Sender of the latest refused capture, and the reason */
                lastRefusal: string | null;
            };
            retention: {
                retentionDays: number;
                expiresAt: string | null;
            };
            backlog: {
                pendingCount: number;
                retryingCount: number;
                parkedCount: number;
                oldestPendingAt: string | null;
                nextAttemptAt: string | null;
            };
        };
        FirstTransformationRule: {
            /** Format: uuid */
            id: string;
            /** @description 1-based; rules run in this order */
            position: number;
            name: string;
            enabled: boolean;
            /** @description Set when the service switched the rule off */
            disabledReason: string | null;
            /** @description The service switched off a rule that removes data. Deliveries wait until the rule is fixed, enabled or deleted */
            holdsDeliveries: boolean;
            /** @description `when` in words; "Always" when it has none */
            condition: string;
            rule: components["schemas"]["TransformationRule"];
            /** @description A new rule is version 1 */
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * Format: uuid
             * @description The same as `id`
             */
            ruleId: string;
            /** @description Rules of the set */
            ruleCount: number;
        };
        /**
         * @example {
         *       "sequence": true,
         *       "missingCount": 2,
         *       "items": [
         *         {
         *           "firstMissing": "871003",
         *           "lastMissing": "871004",
         *           "count": 2,
         *           "beforeRequestId": 90117,
         *           "afterRequestId": 90118,
         *           "from": "2026-11-21T09:15:00.123Z",
         *           "to": "2026-11-21T09:16:10.500Z"
         *         }
         *       ]
         *     }
         */
        Gaps: {
            /** @description Whether event ids of the endpoint's provider are a sequence; if not, no gap can be seen */
            sequence: boolean;
            /** @description Numbers that are missing in all of `items` */
            missingCount: number;
            /** @description Newest first, at most 100 */
            items: {
                /** @description As text: it may be longer than a double holds */
                firstMissing: string;
                lastMissing: string;
                count: number;
                /** @description The capture with the number before the gap */
                beforeRequestId: number;
                /** @description The capture with the number behind it */
                afterRequestId: number;
                /** Format: date-time */
                from: string;
                /** Format: date-time */
                to: string;
            }[];
        };
        /**
         * @example {
         *       "url": "https://example.com/confirm?id=12345&key=2ab8",
         *       "outcome": "response",
         *       "statusCode": 200,
         *       "body": "confirmed",
         *       "detail": null,
         *       "durationMs": 83
         *     }
         */
        HandshakeConfirmation: {
            /** @description The callback that was called */
            url: string;
            /** @description `response`, or why there is none: `dns`, `connect`, `tls`, `blocked_address`, `timeout`, … */
            outcome: string;
            statusCode: number | null;
            /** @description The first 4096 bytes of the answer; null when it is empty or no text */
            body: string | null;
            /** @description Why there is no response */
            detail: string | null;
            durationMs: number;
        };
        Incident: {
            /** Format: uuid */
            id: string;
            /** @description The event kind that opened it */
            kind: string;
            severity: string;
            subjectType: string;
            /** Format: uuid */
            subjectId: string;
            subjectName: string;
            endpointId: string | null;
            endpointName: string | null;
            /** @description Number of occurrences */
            count: number;
            /** @description Reason of the latest occurrence */
            reason: string | null;
            /** @enum {string} */
            state: "open" | "closed";
            /** Format: date-time */
            openedAt: string;
            closedAt: string | null;
        };
        IncidentPage: {
            items: components["schemas"]["Incident"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
        };
        InnerCondition: components["schemas"]["Leaf"] | {
            all: components["schemas"]["InnerCondition"][];
        } | {
            any: components["schemas"]["InnerCondition"][];
        } | {
            not: components["schemas"]["InnerCondition"];
        };
        Leaf: {
            /** @description A path like body.type, headers.X-Env or query.page. */
            path: string;
            /** @enum {unknown} */
            op: "eq" | "neq" | "contains";
            value: string | number | boolean | null | unknown[] | Record<string, never>;
            ignoreCase?: boolean;
        } | {
            /** @description A path like body.type, headers.X-Env or query.page. */
            path: string;
            /** @enum {unknown} */
            op: "in" | "nin";
            value: (string | number | boolean | null | unknown[] | Record<string, never>)[];
            ignoreCase?: boolean;
        } | {
            /** @description A path like body.type, headers.X-Env or query.page. */
            path: string;
            /** @enum {unknown} */
            op: "gt" | "gte" | "lt" | "lte";
            value: number | string;
            ignoreCase?: boolean;
        } | {
            /** @description A path like body.type, headers.X-Env or query.page. */
            path: string;
            /** @enum {unknown} */
            op: "startsWith" | "endsWith";
            value: string;
            ignoreCase?: boolean;
        } | {
            /** @description A path like body.type, headers.X-Env or query.page. */
            path: string;
            /** @enum {unknown} */
            op: "like";
            value: string;
            ignoreCase?: boolean;
        } | {
            /** @description A path like body.type, headers.X-Env or query.page. */
            path: string;
            /** @enum {unknown} */
            op: "exists";
            value?: boolean;
            ignoreCase?: boolean;
        };
        /**
         * @example {
         *       "key": {
         *         "prefix": "creel_live_f3Kq9Z",
         *         "name": "ci",
         *         "scope": "write",
         *         "endpointId": null,
         *         "expiresAt": "2027-01-01T00:00:00.000Z"
         *       },
         *       "workspace": {
         *         "name": "Acme"
         *       },
         *       "plan": {
         *         "key": "team",
         *         "displayName": "Team"
         *       },
         *       "limits": {
         *         "apiRatePerMinute": 1200,
         *         "apiKeysMax": 50,
         *         "endpointsMax": 10000,
         *         "retentionDays": 90,
         *         "captureRatePerMinute": 60000,
         *         "captureBytesPerMinute": 1649267441664,
         *         "storedRequestsMax": 1000000,
         *         "storedBytesMax": 1099511627776,
         *         "payloadBytesMax": 26214400,
         *         "actionsMax": 25,
         *         "rulesMax": 25,
         *         "watchdogsMax": 100,
         *         "alertChannelsMax": 50,
         *         "parallelAwaitsMax": 50,
         *         "bulkReplay": 1
         *       }
         *     }
         */
        Me: {
            key: {
                /** @description The first characters of the key, safe to display */
                prefix: string;
                /** @description As given when the key was created */
                name: string;
                /**
                 * @description Scope of the key
                 * @enum {string}
                 */
                scope: "read" | "write" | "admin";
                /** @description The endpoint that the key is limited to; null: none */
                endpointId: string | null;
                /** @description When it stops working; null: never */
                expiresAt: string | null;
            };
            workspace: {
                name: string;
            };
            plan: {
                key: string;
                displayName: string;
            };
            limits: components["schemas"]["PlanLimits"];
        };
        NewApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            prefix: string;
            /**
             * @description `read` reads, `write` also changes, `admin` also manages keys and reads the audit log
             * @enum {string}
             */
            scope: "read" | "write" | "admin";
            /** @description The endpoint that the key is limited to; null: none */
            endpointId: string | null;
            /** @description CIDRs that may use the key; null: all */
            allowedNetworks: string[] | null;
            /** Format: date-time */
            createdAt: string;
            /** @description Expiry of the key; null: never */
            expiresAt: string | null;
            /** @description The key itself, shown only once */
            key: string;
        };
        PlanLimits: {
            /** @description API calls per minute of this key */
            apiRatePerMinute: number;
            /** @description Active keys of the workspace */
            apiKeysMax: number;
            /** @description Endpoints of the workspace */
            endpointsMax: number;
            /** @description Days for which a captured request is kept */
            retentionDays: number;
            /** @description Captures per minute and endpoint */
            captureRatePerMinute: number;
            /** @description Bytes of bodies that an endpoint captures in a minute; the capture that passes it is the last */
            captureBytesPerMinute: number;
            /** @description Stored requests of an endpoint; beyond it the oldest are evicted */
            storedRequestsMax: number;
            /** @description Bytes of stored requests and their attempts, heads included, in the workspace; beyond it the oldest are evicted */
            storedBytesMax: number;
            /** @description Body of a capture; of a longer one only a prefix is kept */
            payloadBytesMax: number;
            /** @description Actions of an endpoint */
            actionsMax: number;
            /** @description Transformation rules of a destination; 0: not in the plan */
            rulesMax: number;
            /** @description Watchdogs of the workspace */
            watchdogsMax: number;
            /** @description Alert channels of the workspace; 0: not in the plan */
            alertChannelsMax: number;
            /** @description Awaits of this key that run at once */
            parallelAwaitsMax: number;
            /** @description 1 when bulk replay is in the plan, else 0 */
            bulkReplay: number;
        };
        /** @description Why a call was not done (RFC 9457) */
        Problem: {
            /** @constant */
            type: "about:blank";
            /** @description The status' phrase */
            title: string;
            status: number;
            /** @description For people; may be reworded */
            detail: string;
            /**
             * @description Branch on this: stable within v1
             * @enum {string}
             */
            code: "unauthorized" | "api_access_disabled" | "feature_not_in_plan" | "forbidden" | "not_found" | "validation_failed" | "forwarding_disabled" | "action_inactive" | "request_invalid" | "rate_limited" | "concurrent_change" | "limit_reached" | "no_destination" | "unavailable" | "method_not_allowed" | "internal_error";
            /** @description W3C trace id; the same in the log of the service */
            traceId: string;
            /** @description With `validation_failed`: every wrong part, in document order */
            errors?: components["schemas"]["ProblemItem"][];
        };
        /** @description One wrong part of an input */
        ProblemItem: {
            /** @description JSON Pointer into the request body, as URI fragment; null for query input */
            pointer: string | null;
            /** @description Name of the query parameter; null for body input */
            parameter: string | null;
            /** @description One of required, type, out_of_range, too_short, too_long, unknown_field, unknown_value, unknown_op, unknown_function, bad_path, bad_template, bad_url, bad_format, not_allowed, too_many, too_deep, duplicate, arity; more may come */
            code: string;
            /** @description One sentence for people */
            detail: string;
        };
        Provider: {
            /** @description Value for an endpoint's `provider` */
            slug: string;
            name: string;
            /** @description Place of the event type; null when there is none */
            eventType: {
                /** @enum {string} */
                source: "header" | "body" | "form" | "body-key" | "jwt";
                /** @description Header, body path or form field; null for `body-key`, where a member is named after the type */
                name: string | null;
            } | null;
            /** @description Place of the sender's event id; null when none is known */
            eventId: {
                /** @enum {string} */
                source: "header" | "body";
                /** @description Header or body path */
                name: string;
                /** @description The sender's public reference */
                documentedAt: string | null;
            } | null;
            /** @description Whether its event ids are a sequence, in which gaps can be seen (`…/gaps`) */
            sequence: boolean;
            /** @description Whether the provider lists its events, so that `…/reconcile` can find missing ones */
            reconcilable: boolean;
            signatureHeader: string | null;
            /**
             * @description Whether subscribing poses a challenge, and whether its answer needs a `handshakeToken`
             * @enum {string}
             */
            handshake: "none" | "automatic" | "token";
            /** @description `handshake` is `token` */
            handshakeTokenNeeded: boolean;
            /** @description Null when the provider does not sign */
            verification: {
                supported: boolean;
                scheme: string;
                secretLabel: string | null;
            } | null;
            /** @description Place in the settings of the provider for the webhook URL */
            setupPath: string | null;
        };
        ProviderSamples: {
            /** @description Slug of the provider catalog */
            provider: string;
            name: string;
            events: {
                event: string;
                summary: string;
            }[];
        };
        /**
         * @example {
         *       "id": "3f0a1a52-6a0e-4f0b-9a37-5c1d8f2e7b61",
         *       "endpointId": "0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33",
         *       "sender": "stripe",
         *       "state": "done",
         *       "since": "2026-11-18T09:00:00.000Z",
         *       "until": "2026-11-21T08:59:00.000Z",
         *       "types": [],
         *       "dryRun": false,
         *       "complete": true,
         *       "counts": {
         *         "listed": 10000,
         *         "found": 9900,
         *         "missing": 100,
         *         "tooOld": 0,
         *         "redelivered": 0,
         *         "captured": 100,
         *         "refused": 0,
         *         "outstanding": 0
         *       },
         *       "missingTypes": [
         *         {
         *           "type": "invoice.paid",
         *           "count": 100
         *         }
         *       ],
         *       "error": null,
         *       "createdAt": "2026-11-21T09:00:00.000Z",
         *       "startedAt": "2026-11-21T09:00:00.040Z",
         *       "finishedAt": "2026-11-21T09:00:21.400Z"
         *     }
         */
        Reconciliation: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            endpointId: string;
            /** @enum {string} */
            sender: "stripe" | "github";
            /**
             * @description `queued` while another runs: one at a time per endpoint
             * @enum {string}
             */
            state: "queued" | "running" | "done" | "failed";
            /** Format: date-time */
            since: string;
            /**
             * Format: date-time
             * @description Later events may still arrive, and are skipped
             */
            until: string;
            types: string[];
            dryRun: boolean;
            /** @description Whether the list was read to its end. If not, only the newest events were compared */
            complete: boolean;
            counts: {
                /** @description Different events that the sender lists */
                listed: number;
                /** @description Of these, already captured */
                found: number;
                /** @description Of these, never captured */
                missing: number;
                /** @description Of these, older than the oldest stored capture: not compared */
                tooOld: number;
                /** @description Missing events that the sender accepted to send again */
                redelivered: number;
                /** @description Missing events that were captured from the list */
                captured: number;
                /** @description Missing events that the sender refused */
                refused: number;
                /** @description Missing events that had not arrived at the end of the run; null while it runs */
                outstanding: number | null;
            };
            /** @description Types of the missing events, most frequent first, at most 20 */
            missingTypes: {
                type: string;
                count: number;
            }[];
            /** @description Reason of a `failed` run; events that it fetched stay */
            error: {
                /** @enum {string} */
                code: "unauthorized" | "forbidden" | "not_found" | "unreachable" | "sender_failed" | "bad_answer" | "rate_limited" | "endpoint_closed" | "timed_out" | "internal_error";
                detail: string;
            } | null;
            /** Format: date-time */
            createdAt: string;
            startedAt: string | null;
            finishedAt: string | null;
        };
        ReconciliationPage: {
            items: components["schemas"]["Reconciliation"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
        };
        /**
         * @example {
         *       "requestId": 90117,
         *       "state": "Failed",
         *       "attemptId": 554020,
         *       "statusCode": 500,
         *       "error": "http_500",
         *       "outcomes": [
         *         {
         *           "actionId": "5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10",
         *           "actionName": "Billing",
         *           "kind": "forward",
         *           "attemptId": 554020,
         *           "state": "Failed",
         *           "statusCode": 500,
         *           "error": "http_500",
         *           "url": "https://app.acme.dev/hooks",
         *           "at": "2026-11-21T10:00:00.000Z",
         *           "durationMs": 88,
         *           "transformed": true,
         *           "transformationVersion": 3
         *         }
         *       ]
         *     }
         */
        ReplayResult: {
            requestId: number;
            /** @enum {string} */
            state: "Succeeded" | "Failed" | "Errored" | "Skipped" | "Pending";
            /** @description Value of the only outcome; null when there are several */
            attemptId: number | null;
            /** @description Value of the only outcome; null when there are several */
            statusCode: number | null;
            /** @description Value of the only outcome; null when there are several */
            error: string | null;
            /** @description In action position order */
            outcomes: {
                /** Format: uuid */
                actionId: string;
                actionName: string;
                kind: string;
                /** @description Null when the action was skipped */
                attemptId: number | null;
                /** @enum {string} */
                state: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted" | "Skipped";
                statusCode: number | null;
                error: string | null;
                url: string | null;
                at: string | null;
                durationMs: number | null;
                transformed: boolean;
                transformationVersion: number | null;
            }[];
            /** @description With `to=listeners`: the number of listeners. `Pending` until they report; `Skipped` when there is none */
            listenerCount?: number;
        };
        /** @description Follow the captures and deliveries of an endpoint: one event */
        RequestsFollowEvent: {
            /** @description For `Last-Event-ID`: the stream continues after it */
            id: string;
            /** @constant */
            event: "arrived";
            /** @description Requests that match, oldest first */
            data: {
                requests: components["schemas"]["CapturedRequestSummary"][];
            };
        } | {
            /** @description For `Last-Event-ID`: the stream continues after it */
            id: string;
            /** @constant */
            event: "captured";
            /** @description With `whole`, in place of `arrived`: the same requests with target, headers and body */
            data: {
                requests: components["schemas"]["WholeRequest"][];
            };
        } | {
            /** @description For `Last-Event-ID`: the stream continues after it */
            id: string;
            /** @constant */
            event: "passed";
            /** @description With filters: the number of new requests that do not match */
            data: {
                count: number;
            };
        } | {
            /** @description For `Last-Event-ID`: the stream continues after it */
            id: string;
            /** @constant */
            event: "changed";
            /** @description Changed deliveries; also of requests that the filters skip */
            data: {
                states: {
                    id: number;
                    /** @enum {string} */
                    state: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted" | "NotAttempted" | "Skipped";
                    attemptCount: number;
                }[];
            };
        } | {
            /** @description For `Last-Event-ID`: the stream continues after it */
            id: string;
            /** @constant */
            event: "replay";
            /** @description With `listener`: a replay of this request to the local server was requested */
            data: {
                replayId: number;
                requestId: number;
            };
        } | {
            /** @description For `Last-Event-ID`: the stream continues after it */
            id: string;
            /** @constant */
            event: "behind";
            /** @description More than 1000 new requests: read them by `afterId`; the stream continues after `lastId`. With `whole`: the reader is too slow and the stream ends. Read the requests up to `lastId` by `afterId` */
            data: {
                lastId: number;
                /** @description With `newest`: the newest, oldest first */
                requests?: components["schemas"]["CapturedRequestSummary"][];
                /** @description With `newest`: number of stored requests */
                totalCount?: number;
            };
        };
        Restored: {
            restoredCount: number;
            /** @description Left in the bin because their endpoint is at its stored-request limit */
            skippedAtCap: number;
        };
        RetryNow: {
            requestId: number;
            /** Format: uuid */
            actionId: string;
            /** @description Number of this attempt */
            attemptNumber: number;
        };
        SentSample: {
            requestId: number;
            provider: string;
            event: string;
            /**
             * Format: uri
             * @description The capture URL that it was sent to
             */
            url: string;
            /** @description False without a secret, and where only the provider can sign */
            signed: boolean;
        };
        Shape: {
            /** @description Number of requests read */
            sampleCount: number;
            paths: {
                path: string;
                types: ("string" | "number" | "boolean" | "null" | "object" | "array")[];
                /** @description Share of requests with this path, 0 to 1 */
                share: number;
                /** @description The newest value, shortened */
                example: string;
            }[];
        };
        SignInLink: {
            url: string;
            /** Format: date-time */
            expiresAt: string;
        };
        SkippedDelivery: {
            requestId: number;
            /** Format: uuid */
            actionId: string;
            key: string;
        };
        Step: {
            /** @enum {unknown} */
            op: "keep";
            paths: string[];
        } | {
            /** @enum {unknown} */
            op: "remove";
            paths: string[];
        } | {
            /** @enum {unknown} */
            op: "rename";
            /** @description Target of the step: body.<path> or headers.<name>; no [*]. */
            from: string;
            /** @description Target of the step: body.<path> or headers.<name>; no [*]. */
            to: string;
        } | {
            /** @enum {unknown} */
            op: "redact";
            paths: string[];
            with?: string;
        } | {
            /** @enum {unknown} */
            op: "set";
            /** @description Target of the step: body.<path> or headers.<name>; no [*]. */
            path: string;
            /** @description Any JSON value. */
            value: unknown;
        } | {
            /** @enum {unknown} */
            op: "template";
            /** @description Target of the step: body.<path> or headers.<name>; no [*]. */
            path: string;
            /** @description Text with {{ path }} placeholders. */
            template: string;
        } | {
            /** @enum {unknown} */
            op: "compute";
            /** @description Target of the step: body.<path> or headers.<name>; no [*]. */
            path: string;
            /** @enum {unknown} */
            fn: "concat" | "lower" | "upper" | "trim" | "replace" | "substring" | "split" | "join" | "padStart" | "length" | "toText" | "toNumber" | "toBoolean" | "parseJson" | "toJson" | "add" | "multiply" | "subtract" | "divide" | "modulo" | "round" | "floor" | "ceil" | "abs" | "min" | "max" | "sum" | "coalesce" | "get" | "first" | "last" | "count" | "base64Encode" | "base64UrlEncode" | "hexEncode" | "urlEncode" | "base64Decode" | "base64UrlDecode" | "hexDecode" | "urlDecode" | "md5" | "sha1" | "sha256" | "sha512" | "hmacSha1" | "hmacSha256" | "hmacSha512" | "now" | "formatDate" | "toUnix" | "fromUnix" | "addSeconds" | "uuid";
            args: components["schemas"]["Argument"][];
        };
        Traffic: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            buckets: {
                /** Format: date-time */
                from: string;
                /** @description Captures that are still stored */
                capturedCount: number;
                /** @description Attempts that failed */
                failedCount: number;
                /** @description Captures that were refused for the rate, counted by the minute and kept for 90 days */
                rejectedCount: number;
                /** @description Duplicates that `dedupe` did not store, counted by the minute and kept for 90 days */
                discardedCount: number;
            }[];
        };
        TransformationPreview: {
            /** @description Whether some rule applied */
            matched: boolean;
            faulted: boolean;
            note: string;
            rules: {
                ruleId: string | null;
                name: string;
                version: number | null;
                matched: boolean;
                /** @description Lists the paths of `when` that this request does not have */
                note: string | null;
                steps: {
                    index: number;
                    /** @enum {string} */
                    op: "keep" | "remove" | "rename" | "redact" | "set" | "template" | "compute";
                    changed: boolean;
                    note: string | null;
                }[];
                fault: {
                    stepIndex: number;
                    /** @enum {string} */
                    code: "type" | "not_structured" | "not_found_index" | "divide_by_zero" | "bad_number" | "bad_json" | "bad_encoding" | "bad_date" | "bad_header" | "too_large" | "too_slow" | "no_secret";
                    detail: string;
                } | null;
            }[];
            /** @description Null when a rule faulted: nothing would be sent */
            output: {
                method: string;
                headers: {
                    [key: string]: string;
                };
                body: string | null;
                /** @description Then `body` is base64 */
                bodyIsBinary: boolean;
                contentType: string | null;
            } | null;
        };
        /** Creel transformation rule, version 1 */
        TransformationRule: {
            /** @enum {unknown} */
            version: 1;
            name: string;
            when?: Record<string, never> | components["schemas"]["InnerCondition"] | null;
            steps: components["schemas"]["Step"][];
        };
        TransformationRuleView: {
            /** Format: uuid */
            id: string;
            /** @description 1-based; rules run in this order */
            position: number;
            name: string;
            enabled: boolean;
            /** @description Set when the service switched the rule off */
            disabledReason: string | null;
            /** @description The service switched off a rule that removes data. Deliveries wait until the rule is fixed, enabled or deleted */
            holdsDeliveries: boolean;
            /** @description `when` in words; "Always" when it has none */
            condition: string;
            rule: components["schemas"]["TransformationRule"];
            /** @description A new rule is version 1 */
            version: number;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        TransformationSet: {
            /** Format: uuid */
            endpointId: string;
            /** @description The forward action; null when there is none */
            destinationId: string | null;
            destinationUrl: string | null;
            rules: components["schemas"]["TransformationRuleView"][];
            maxRules: number;
            featureInPlan: boolean;
            schemaUrl: string;
        };
        Usage: {
            endpoints: {
                count: number;
                /** @description The plan's `endpointsMax` */
                max: number;
            };
            apiKeys: {
                count: number;
                /** @description The plan's `apiKeysMax` */
                max: number;
            };
            watchdogs: {
                count: number;
                /** @description The plan's `watchdogsMax` */
                max: number;
            };
            alertChannels: {
                count: number;
                /** @description The plan's `alertChannelsMax` */
                max: number;
            };
            /** @description Stored requests of one endpoint */
            storedRequestsMax: number;
            storage: {
                /** @description Stored requests and their attempts: bodies, heads (at least 1 KiB each), what was sent and answered */
                bytes: number;
                /** @description The plan's `storedBytesMax` */
                bytesMax: number;
            };
            perEndpoint: {
                /** Format: uuid */
                endpointId: string;
                name: string;
                storedRequestCount: number;
                /** @description Bodies of stored requests */
                storedBytes: number;
                /** @description Captures answered 429 since creation */
                rejectedCount: number;
                lastRequestAt: string | null;
            }[];
        };
        VerificationPreview: {
            /** @description Null: these settings check no signature */
            verification: {
                /** @enum {string} */
                verdict: "verified" | "failed" | "unsigned" | "unverifiable";
                note: string;
            } | null;
        };
        Watchdog: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            endpointId: string;
            endpointName: string;
            name: string;
            /** @enum {string} */
            state: "waiting" | "onTime" | "late" | "alarmed" | "paused";
            active: boolean;
            /** @description Kept, but over the plan limit: not evaluated */
            pausedByPlan: boolean;
            match: {
                [key: string]: unknown;
            } | Record<string, never> | components["schemas"]["InnerCondition"];
            expectedIntervalSeconds: number;
            graceSeconds: number;
            /** Format: date-time */
            armedAt: string;
            lastMatchedAt: string | null;
            lastMatchedRequestId: number | null;
            dueAt: string | null;
            alarmAt: string | null;
            alarmedAt: string | null;
            recoveredAt: string | null;
            lastAlertedAt: string | null;
            /** Format: date-time */
            createdAt: string;
            alertContactIds: string[];
        };
        WatchdogLabels: {
            items: {
                label: string;
                count: number;
            }[];
        };
        WatchdogPage: {
            items: components["schemas"]["Watchdog"][];
            /** @description Everything the query matches after filters, wherever a cursor stands */
            totalCount: number;
            page: number;
            pageSize: number;
            /** @description 0 when nothing matches */
            totalPages: number;
            /** @description Cursor of what follows this page: give it as `before`. Null when nothing follows */
            next: string | null;
            /** @description Cursor of what is newer than this page: give it as `after`. Null when the page is empty */
            previous: string | null;
        };
        /**
         * @example {
         *       "available": true,
         *       "reason": null,
         *       "samples": 143,
         *       "expectedIntervalSeconds": 3600,
         *       "graceSeconds": 720,
         *       "observedP90Seconds": 3412,
         *       "newestAt": "2026-11-21T09:15:00.123Z",
         *       "oldestAt": "2026-11-15T02:00:00.000Z"
         *     }
         */
        WatchdogSuggestion: {
            available: boolean;
            reason: string | null;
            /** @description Matching captures that were measured, at most 501 */
            samples: number;
            expectedIntervalSeconds: number | null;
            graceSeconds: number | null;
            observedP90Seconds: number | null;
            newestAt: string | null;
            oldestAt: string | null;
        };
        WatchdogTimeline: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            /** @description Stored captures that match, the newest 500, oldest first */
            matches: {
                requestId: number;
                /** Format: date-time */
                at: string;
            }[];
            alarms: {
                /** Format: date-time */
                alarmedAt: string;
                recoveredAt: string | null;
            }[];
            /** @description Outages of the service, in which no gateway took captures. They cause no alarm */
            outages: {
                /** Format: date-time */
                from: string;
                /** Format: date-time */
                to: string;
            }[];
        };
        WholeRequest: {
            id: number;
            /** Format: uuid */
            endpointId: string;
            /** Format: date-time */
            receivedAt: string;
            method: string;
            path: string;
            contentType: string | null;
            sizeBytes: number;
            ip: string | null;
            userAgent: string | null;
            label: string | null;
            /** @description The sender's own id of the event, the same each time it is sent; of one over 200 bytes `sha256:` and its digest in hex. Null where there is none */
            eventId: string | null;
            /** @description Attempt number of the sender: requests with this event id that are stored, this one included; 100: that or more. Null without `eventId`, and for `imported` */
            senderAttempt: number | null;
            /** @description The first stored request of the same event; null for the first itself */
            firstRequestId: number | null;
            /** @description With `dedupe` of the endpoint: the request that came first, of which this is a duplicate; that one may be gone. Null for the first */
            duplicateOf: number | null;
            /** @description An oversize trace: only a prefix of the body is kept */
            bodyTruncated: boolean;
            bodyIsBinary: boolean;
            /** @description First 200 characters of a text body */
            bodyPreview: string | null;
            verification: {
                /** @enum {string} */
                verdict: "verified" | "failed" | "unsigned" | "unverifiable";
                note: string;
            } | null;
            /** @enum {string} */
            state: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted" | "NotAttempted" | "Skipped";
            attemptCount: number;
            /** @description It did not arrive here: it was imported, and was never dispatched */
            imported: boolean;
            /** @description It did not arrive here: a reconciliation fetched it from its sender's list. It was dispatched like any other */
            reconciled: boolean;
            url: string;
            queryString: string | null;
            rawHeaders: {
                name: string;
                value: string;
                /**
                 * @description Only where the value is not UTF-8: then each character of `value` is one byte
                 * @constant
                 */
                encoding?: "latin1";
            }[];
            /** @description Text, or base64 when `bodyIsBinary`; null when empty */
            body: string | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    me_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endpoints_list: {
        parameters: {
            query?: {
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endpoints_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "stripe-ci",
                 *       "ttlSeconds": 900,
                 *       "responseStatusCode": 202,
                 *       "responseBody": "{\"received\":true}"
                 *     }
                 */
                "application/json": {
                    /** @description Shown to people; 1 to 100 characters */
                    name?: string | null;
                    /** @description Off: senders get 404 */
                    isActive?: boolean | null;
                    /** @description Slug of the provider catalog; "" for none */
                    provider?: string | null;
                    /** @description 200-299 or 400-599 */
                    responseStatusCode?: number | null;
                    responseContentType?: string | null;
                    /** @description {} clears */
                    responseHeaders?: {
                        [key: string]: string;
                    } | null;
                    /** @description At most 65536 bytes */
                    responseBody?: string | null;
                    /** @description Write-only; "" clears. For rsa and ed25519: the public key */
                    signingSecret?: string | null;
                    /** @description Write-only; "" clears */
                    handshakeToken?: string | null;
                    /** @description Makes the scheme manual; "" goes back to the preset */
                    signatureHeader?: string | null;
                    /** @description Hash of a manual scheme; "" is the default, sha256 */
                    signatureAlgorithm?: ("sha1" | "sha256" | "sha512" | "rsa-sha256" | "rsa-sha512" | "ed25519" | "") | null;
                    /** @description Encoding of a manual scheme; "" is the default, hex */
                    signatureEncoding?: ("hex" | "base64" | "base64url" | "") | null;
                    signaturePrefix?: string | null;
                    /** @description Path of the event id, such as `body.data.id`, `headers.x-event-id` or `query.id`; "" restores the path of the provider */
                    eventIdPath?: string | null;
                    /** @description Marks, skips or discards an event that its sender sends again; null, the default, captures it each time */
                    dedupe?: {
                        /** @description What they have in common: `event`, the event id, or the path of a value like `body.order.id` */
                        by: string;
                        /** @description For so long after the first; at most as long as requests are kept */
                        windowSeconds: number;
                        /**
                         * @description `mark` only shows it; `skip` stores the duplicate and runs no action; `discard` counts it and stores nothing. The sender is answered as for the first
                         * @enum {string}
                         */
                        then: "mark" | "skip" | "discard";
                    } | null;
                    /** @description Captures that are not `verified` are answered 401 and not stored; needs verification to be set up */
                    rejectUnverified?: boolean | null;
                    /** @description Networks (CIDR) or addresses; captures from elsewhere are answered 403 and not stored. [] clears */
                    allowedSenders?: string[] | null;
                    /**
                     * @deprecated
                     * @description URL of the first forward action; "" deletes it
                     */
                    forwardUrl?: string | null;
                    /**
                     * @deprecated
                     * @description Switches the first forward action
                     */
                    forwardingEnabled?: boolean | null;
                    /**
                     * @deprecated
                     * @description Write-only; "" stops signing
                     */
                    forwardSigningSecret?: string | null;
                    /** @description Makes it ephemeral */
                    ttlSeconds?: number | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `limit_reached`: The workspace has reached a limit of its plan. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endpoints_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endpoints_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endpoints_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "stripe",
                 *       "responseHeaders": {
                 *         "X-Handled-By": "creel"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Shown to people; 1 to 100 characters */
                    name?: string | null;
                    /** @description Off: senders get 404 */
                    isActive?: boolean | null;
                    /** @description Slug of the provider catalog; "" for none */
                    provider?: string | null;
                    /** @description 200-299 or 400-599 */
                    responseStatusCode?: number | null;
                    responseContentType?: string | null;
                    /** @description {} clears */
                    responseHeaders?: {
                        [key: string]: string;
                    } | null;
                    /** @description At most 65536 bytes */
                    responseBody?: string | null;
                    /** @description Write-only; "" clears. For rsa and ed25519: the public key */
                    signingSecret?: string | null;
                    /** @description Write-only; "" clears */
                    handshakeToken?: string | null;
                    /** @description Makes the scheme manual; "" goes back to the preset */
                    signatureHeader?: string | null;
                    /** @description Hash of a manual scheme; "" is the default, sha256 */
                    signatureAlgorithm?: ("sha1" | "sha256" | "sha512" | "rsa-sha256" | "rsa-sha512" | "ed25519" | "") | null;
                    /** @description Encoding of a manual scheme; "" is the default, hex */
                    signatureEncoding?: ("hex" | "base64" | "base64url" | "") | null;
                    signaturePrefix?: string | null;
                    /** @description Path of the event id, such as `body.data.id`, `headers.x-event-id` or `query.id`; "" restores the path of the provider */
                    eventIdPath?: string | null;
                    /** @description Marks, skips or discards an event that its sender sends again; null, the default, captures it each time */
                    dedupe?: {
                        /** @description What they have in common: `event`, the event id, or the path of a value like `body.order.id` */
                        by: string;
                        /** @description For so long after the first; at most as long as requests are kept */
                        windowSeconds: number;
                        /**
                         * @description `mark` only shows it; `skip` stores the duplicate and runs no action; `discard` counts it and stores nothing. The sender is answered as for the first
                         * @enum {string}
                         */
                        then: "mark" | "skip" | "discard";
                    } | null;
                    /** @description Captures that are not `verified` are answered 401 and not stored; needs verification to be set up */
                    rejectUnverified?: boolean | null;
                    /** @description Networks (CIDR) or addresses; captures from elsewhere are answered 403 and not stored. [] clears */
                    allowedSenders?: string[] | null;
                    /**
                     * @deprecated
                     * @description URL of the first forward action; "" deletes it
                     */
                    forwardUrl?: string | null;
                    /**
                     * @deprecated
                     * @description Switches the first forward action
                     */
                    forwardingEnabled?: boolean | null;
                    /**
                     * @deprecated
                     * @description Write-only; "" stops signing
                     */
                    forwardSigningSecret?: string | null;
                    /** @description Not allowed: the lifetime is set on create */
                    ttlSeconds?: unknown;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `concurrent_change`: An action of the endpoint was removed by another call at the same time. Nothing was saved.
             *
             *     `limit_reached`: The workspace has reached a limit of its plan.
             */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endpoints_stats: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndpointStats"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endpoints_rotateUrl: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlapSeconds": 3600
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Seconds that the old URL keeps working; 0 ends it at once
                     * @default 86400
                     */
                    overlapSeconds?: number;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Endpoint"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endpoints_traffic: {
        parameters: {
            query?: {
                /** @description Begin; default an hour before `to` */
                from?: string;
                /** @description End, exclusive; default now */
                to?: string;
                /** @description Parts of the period, of equal length */
                buckets?: number;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Traffic"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionList"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_create: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "forward",
                 *       "name": "Billing",
                 *       "url": "https://app.acme.dev/hooks",
                 *       "condition": {
                 *         "all": [
                 *           {
                 *             "path": "body.type",
                 *             "op": "startsWith",
                 *             "value": "invoice."
                 *           }
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description One of `options.kinds` */
                    kind: string;
                    /** @description Shown to people; default the host of `url`, or the name of the channel */
                    name?: string | null;
                    /** @description Default true */
                    isActive?: boolean | null;
                    /** @description When it runs; `{}` = always, which is the default */
                    condition?: Record<string, never> | components["schemas"]["InnerCondition"];
                    /** @description 1-based; default last. Others move to make room */
                    position?: number | null;
                    /** @description forward: where to, http or https */
                    url?: string | null;
                    /** @description forward: the captured path after `/hook/{id}` follows the path of `url`; default false */
                    appendPath?: boolean | null;
                    /** @description forward: the captured query follows the query of `url`; default false */
                    appendQuery?: boolean | null;
                    /** @description forward; write-only. 16 to 512 characters, "" stops signing */
                    signingSecret?: string | null;
                    /** @description forward: how it signs; its secret is `signingSecret`. Default `creel` */
                    signing?: {
                        scheme?: ("creel" | "standard-webhooks") | null;
                    } | null;
                    /** @description forward: credentials for the receiver; null = none, which is the default. In a change of the same kind members that are left out stay */
                    auth?: {
                        /** @enum {string} */
                        kind: "none" | "bearer" | "basic" | "header" | "oauth2ClientCredentials";
                        /** @description bearer; write-only */
                        token?: string | null;
                        /** @description basic */
                        username?: string | null;
                        /** @description basic; write-only */
                        password?: string | null;
                        /** @description header: its name */
                        name?: string | null;
                        /** @description header; write-only */
                        value?: string | null;
                        /** @description oauth2ClientCredentials: token endpoint, https */
                        tokenUrl?: string | null;
                        /** @description oauth2ClientCredentials */
                        clientId?: string | null;
                        /** @description oauth2ClientCredentials; write-only */
                        clientSecret?: string | null;
                        /** @description oauth2ClientCredentials: scopes, with spaces between; "" for none */
                        scope?: string | null;
                    } | null;
                    /** @description forward: client certificate and private authority; null = none, which is the default. Members that are left out stay */
                    tls?: {
                        /** @description PEM: the client certificate, then its intermediate certificates; "" for none */
                        clientCertificate?: string | null;
                        /** @description PEM, without a passphrase; write-only. It goes with its certificate */
                        clientKey?: string | null;
                        /** @description PEM: the only CAs that may sign the receiver's certificate; "" for the system's CAs */
                        certificateAuthority?: string | null;
                    } | null;
                    /** @description forward: delivery policy; null = the defaults of the installation, which is the default */
                    delivery?: {
                        /** @description Seconds that a whole attempt may take */
                        timeoutSeconds?: number | null;
                        /** @description Attempts in flight at once, over all processes */
                        concurrency?: number | null;
                        /** @description Attempts that may start in any period of `perSeconds`, over all processes */
                        rate?: {
                            count: number;
                            perSeconds: number;
                        } | null;
                        /** @description Deliveries of one key go out one after the other, in the order of the requests */
                        order?: {
                            /** @description The path of the key, like `body.customer.id`, or `endpoint` */
                            by: string;
                            /**
                             * @description After a dead letter, deliveries of its key continue, or wait for a replay or skip
                             * @default continue
                             * @enum {string}
                             */
                            onDeadLetter?: "continue" | "hold";
                        } | null;
                        /** @description When another attempt follows. Transport errors are always retried */
                        retry?: {
                            /** @description Times between one attempt and the next; none = no retry */
                            delays?: string[] | null;
                            /** @description Statuses that are retried; default each but 2xx and 410 */
                            on?: (number | ("3xx" | "4xx" | "5xx"))[] | null;
                        } | null;
                        /** @description After so many failures in the window, only probes go out until one succeeds */
                        breaker?: {
                            failures: number;
                            windowSeconds: number;
                            probeEverySeconds: number;
                        } | null;
                        /** @description An incident opens while a delivery has waited for longer */
                        backlogAlertSeconds?: number | null;
                        /** @description Effect of a 410: end the delivery, or also pause the action; default `end` */
                        gone?: ("end" | "pause") | null;
                    } | null;
                    /**
                     * Format: uuid
                     * @description notify: the channel to notify
                     */
                    alertChannelId?: string | null;
                    /** @description notify: text with placeholders like `{{ body.id }}`, 1 to 4000 characters */
                    messageTemplate?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Action"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `limit_reached`: The workspace has reached a limit of its plan. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                endpointId: string;
                actionId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "isActive": false
                 *     }
                 */
                "application/json": {
                    /** @description Cannot change */
                    kind?: string | null;
                    /** @description Shown to people; default the host of `url`, or the name of the channel */
                    name?: string | null;
                    /** @description Default true */
                    isActive?: boolean | null;
                    /** @description When it runs; `{}` = always, which is the default */
                    condition?: Record<string, never> | components["schemas"]["InnerCondition"];
                    /** @description 1-based; default last. Others move to make room */
                    position?: number | null;
                    /** @description forward: where to, http or https */
                    url?: string | null;
                    /** @description forward: the captured path after `/hook/{id}` follows the path of `url`; default false */
                    appendPath?: boolean | null;
                    /** @description forward: the captured query follows the query of `url`; default false */
                    appendQuery?: boolean | null;
                    /** @description forward; write-only. 16 to 512 characters, "" stops signing */
                    signingSecret?: string | null;
                    /** @description forward: how it signs; its secret is `signingSecret`. Default `creel` */
                    signing?: {
                        scheme?: ("creel" | "standard-webhooks") | null;
                    } | null;
                    /** @description forward: credentials for the receiver; null = none, which is the default. In a change of the same kind members that are left out stay */
                    auth?: {
                        /** @enum {string} */
                        kind: "none" | "bearer" | "basic" | "header" | "oauth2ClientCredentials";
                        /** @description bearer; write-only */
                        token?: string | null;
                        /** @description basic */
                        username?: string | null;
                        /** @description basic; write-only */
                        password?: string | null;
                        /** @description header: its name */
                        name?: string | null;
                        /** @description header; write-only */
                        value?: string | null;
                        /** @description oauth2ClientCredentials: token endpoint, https */
                        tokenUrl?: string | null;
                        /** @description oauth2ClientCredentials */
                        clientId?: string | null;
                        /** @description oauth2ClientCredentials; write-only */
                        clientSecret?: string | null;
                        /** @description oauth2ClientCredentials: scopes, with spaces between; "" for none */
                        scope?: string | null;
                    } | null;
                    /** @description forward: client certificate and private authority; null = none, which is the default. Members that are left out stay */
                    tls?: {
                        /** @description PEM: the client certificate, then its intermediate certificates; "" for none */
                        clientCertificate?: string | null;
                        /** @description PEM, without a passphrase; write-only. It goes with its certificate */
                        clientKey?: string | null;
                        /** @description PEM: the only CAs that may sign the receiver's certificate; "" for the system's CAs */
                        certificateAuthority?: string | null;
                    } | null;
                    /** @description forward: delivery policy; null = the defaults of the installation, which is the default */
                    delivery?: {
                        /** @description Seconds that a whole attempt may take */
                        timeoutSeconds?: number | null;
                        /** @description Attempts in flight at once, over all processes */
                        concurrency?: number | null;
                        /** @description Attempts that may start in any period of `perSeconds`, over all processes */
                        rate?: {
                            count: number;
                            perSeconds: number;
                        } | null;
                        /** @description Deliveries of one key go out one after the other, in the order of the requests */
                        order?: {
                            /** @description The path of the key, like `body.customer.id`, or `endpoint` */
                            by: string;
                            /**
                             * @description After a dead letter, deliveries of its key continue, or wait for a replay or skip
                             * @default continue
                             * @enum {string}
                             */
                            onDeadLetter?: "continue" | "hold";
                        } | null;
                        /** @description When another attempt follows. Transport errors are always retried */
                        retry?: {
                            /** @description Times between one attempt and the next; none = no retry */
                            delays?: string[] | null;
                            /** @description Statuses that are retried; default each but 2xx and 410 */
                            on?: (number | ("3xx" | "4xx" | "5xx"))[] | null;
                        } | null;
                        /** @description After so many failures in the window, only probes go out until one succeeds */
                        breaker?: {
                            failures: number;
                            windowSeconds: number;
                            probeEverySeconds: number;
                        } | null;
                        /** @description An incident opens while a delivery has waited for longer */
                        backlogAlertSeconds?: number | null;
                        /** @description Effect of a 410: end the delivery, or also pause the action; default `end` */
                        gone?: ("end" | "pause") | null;
                    } | null;
                    /**
                     * Format: uuid
                     * @description notify: the channel to notify
                     */
                    alertChannelId?: string | null;
                    /** @description notify: text with placeholders like `{{ body.id }}`, 1 to 4000 characters */
                    messageTemplate?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Action"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the action */
                actionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_pause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the action */
                actionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Action"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_resume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the action */
                actionId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "perSecond": 10
                 *     }
                 */
                "application/json": {
                    /** @description Most attempts per second until the backlog is empty; default no limit */
                    perSecond?: number | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Action"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    actions_backlog: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the action */
                actionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backlog"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    providers_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Caching of the answer */
                    "Cache-Control"?: string;
                    /** @description For `If-None-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Provider"][];
                    };
                };
            };
            /** @description Not modified since `ETag` */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_list: {
        parameters: {
            query?: {
                /** @description HTTP method, without case */
                method?: string;
                /** @description Latest delivery state */
                state?: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted" | "NotAttempted" | "Skipped";
                /** @description Text found in path, query string, header values or text body, without case */
                q?: string;
                /** @description Received at or after */
                since?: string;
                /** @description Received before */
                until?: string;
                /** @description Only requests with a greater id */
                afterId?: number;
                /** @description `none`: nothing was checked */
                verification?: "verified" | "failed" | "unsigned" | "unverifiable" | "none";
                /** @description Exact event type */
                label?: string;
                /** @description Exact event id of the sender; also an id that is too long to be stored unchanged */
                eventId?: string;
                /** @description `true`: only duplicates by `dedupe` of the endpoint; `false`: none of them */
                duplicate?: boolean | null;
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
                /** @description Only requests with a lower id */
                beforeId?: number;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapturedRequestSummaryPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_clear: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Number of requests moved to the recycle bin */
                        deletedCount: number;
                    };
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_await: {
        parameters: {
            query?: {
                /** @description HTTP method, without case */
                method?: string;
                /** @description Latest delivery state */
                state?: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted" | "NotAttempted" | "Skipped";
                /** @description Text found in path, query string, header values or text body, without case */
                q?: string;
                /** @description Received at or after */
                since?: string;
                /** @description Received before */
                until?: string;
                /** @description Only requests with a greater id */
                afterId?: number;
                /** @description `none`: nothing was checked */
                verification?: "verified" | "failed" | "unsigned" | "unverifiable" | "none";
                /** @description Exact event type */
                label?: string;
                /** @description Exact event id of the sender; also an id that is too long to be stored unchanged */
                eventId?: string;
                /** @description `true`: only duplicates by `dedupe` of the endpoint; `false`: none of them */
                duplicate?: boolean | null;
                /** @description Seconds to wait, 1 to 60; default 30 */
                timeoutSeconds?: number;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapturedRequest"];
                };
            };
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_find: {
        parameters: {
            query?: {
                /** @description A longer body is left out: `bodyOmitted` is true */
                bodyBytesMax?: number;
            };
            header?: never;
            path: {
                /** @description Id of the captured request */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapturedRequest"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_get: {
        parameters: {
            query?: {
                /** @description A longer body is left out: `bodyOmitted` is true */
                bodyBytesMax?: number;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the captured request */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapturedRequest"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the captured request */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_body: {
        parameters: {
            query?: {
                /** @description The header `Range`, for clients that cannot set it: `bytes=0-1023` */
                range?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the captured request */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_shape: {
        parameters: {
            query?: {
                /** @description Exact event type */
                label?: string;
                /** @description Number of requests to read */
                last?: number;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shape"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_bulkDelete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "requestIds": [
                 *         90117,
                 *         90118
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 500 ids of captured requests */
                    requestIds?: number[] | null;
                    /** @description Another name for `requestIds`: give one of the two */
                    ids?: number[] | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Number of requests moved to the recycle bin */
                        deletedCount: number;
                    };
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_replay: {
        parameters: {
            query?: {
                /** @description Only through this action */
                actionId?: string;
                /** @description Default `actions` */
                to?: "actions" | "listeners";
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the captured request */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayResult"];
                };
            };
            /**
             * @description `forwarding_disabled`: A replay was requested for an endpoint without an active action.
             *
             *     `action_inactive`: A replay was requested for an action that is switched off, or suspended by the plan.
             *
             *     `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_send: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the captured request */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "actionId": "1d7f2f3e-8c2b-4d51-9a35-0f8d1c5b6e77",
                 *       "headers": [
                 *         {
                 *           "name": "Content-Type",
                 *           "value": "application/json"
                 *         }
                 *       ],
                 *       "body": "{\"type\":\"invoice.paid\",\"amount\":990}"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Through this forward action
                     */
                    actionId: string;
                    /** @description As it is sent; without it, as captured */
                    method?: string | null;
                    /** @description All of them, in wire order; without it, as captured. Those that no forward passes on are left out as always */
                    headers?: {
                        name: string;
                        value: string;
                    }[] | null;
                    /** @description Text, or base64 when `bodyIsBinary`; without it, as captured; an empty one is empty */
                    body?: string | null;
                    /**
                     * @description Whether `body` is base64
                     * @default false
                     */
                    bodyIsBinary?: boolean;
                    /**
                     * @description Whether the secret of the action signs it, with a fresh timestamp
                     * @default true
                     */
                    sign?: boolean;
                    /**
                     * @description Whether the rules of the action shape it before it is sent
                     * @default true
                     */
                    transform?: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryAttemptDetail"];
                };
            };
            /**
             * @description `action_inactive`: A replay was requested for an action that is switched off, or suspended by the plan.
             *
             *     `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_bulkReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "requestIds": [
                 *         90117,
                 *         90118
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 500 ids of captured requests */
                    requestIds?: number[] | null;
                    /** @description Another name for `requestIds`: give one of the two */
                    ids?: number[] | null;
                    /** @description Only through this action */
                    actionId?: string | null;
                };
            };
        };
        responses: {
            /** @description Accepted: queued */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkReplayResult"];
                };
            };
            /**
             * @description `forwarding_disabled`: A replay was requested for an endpoint without an active action.
             *
             *     `action_inactive`: A replay was requested for an action that is switched off, or suspended by the plan.
             *
             *     `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_confirm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the captured request */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HandshakeConfirmation"];
                };
            };
            /** @description `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_export: {
        parameters: {
            query: {
                format: "curl" | "fetch" | "httpie" | "python" | "har" | "http" | "k6" | "vitest";
                /** @description Shows the values of headers with names of credentials; default masked */
                includeSecrets?: boolean | null;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the captured request */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/x-shellscript; charset=utf-8": string;
                    "text/javascript; charset=utf-8": string;
                    "text/x-python; charset=utf-8": string;
                    "application/json": string;
                    "message/http": string;
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deliveries_list: {
        parameters: {
            query?: {
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
                /** @description Only attempts in this state */
                state?: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted";
                /** @description Only attempts of this request */
                requestId?: number;
                /** @description Only attempts of this action */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryAttemptPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deliveries_retryNow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the attempt */
                attemptId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted: queued */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetryNow"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `action_inactive`: A replay was requested for an action that is switched off, or suspended by the plan.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deliveries_skip: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the attempt */
                attemptId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkippedDelivery"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deliveries_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the attempt */
                attemptId: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryAttemptDetail"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deliveries_report: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the captured request */
                requestId: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "listener": "ada-laptop http://localhost:3000",
                 *       "url": "http://localhost:3000/hooks",
                 *       "at": "2026-11-22T10:00:00.000Z",
                 *       "durationMs": 12,
                 *       "sent": {
                 *         "method": "POST",
                 *         "headers": [
                 *           {
                 *             "name": "Content-Type",
                 *             "value": "application/json"
                 *           }
                 *         ]
                 *       },
                 *       "received": {
                 *         "statusCode": 200,
                 *         "headers": [],
                 *         "body": "ok",
                 *         "bodyIsBinary": false,
                 *         "bodyTruncated": false
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Name of the listener */
                    listener: string;
                    /** @description Id of the replay */
                    replayId?: number | null;
                    /** @description URL of the local server */
                    url: string;
                    /** @description When it was sent */
                    at: string;
                    durationMs: number;
                    /** @description Why there was no answer */
                    error?: string | null;
                    sent: {
                        method: string;
                        /** @description In wire order; values as text */
                        headers: {
                            name: string;
                            value: string;
                        }[];
                    };
                    /** @description Answer of the local server; absent if there was none */
                    received?: {
                        statusCode: number;
                        /** @description In wire order; values as text */
                        headers: {
                            name: string;
                            value: string;
                        }[];
                        /** @description Text, or base64 when `bodyIsBinary` */
                        body: string | null;
                        bodyIsBinary: boolean;
                        bodyTruncated: boolean;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryAttempt"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    samples_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description Caching of the answer */
                    "Cache-Control"?: string;
                    /** @description For `If-None-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ProviderSamples"][];
                    };
                };
            };
            /** @description Not modified since `ETag` */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    samples_send: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "provider": "stripe",
                 *       "event": "invoice.paid",
                 *       "set": {
                 *         "body.data.object.amount_paid": 500
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Slug of a provider in the list */
                    provider: string;
                    /** @description Default: the first of the provider */
                    event?: string | null;
                    /** @description Values by path into the body, e.g. `{"body.data.amount": 5}`; at most 50 */
                    set?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Sign with a wrong secret */
                    badSignature?: boolean | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentSample"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reconcile_list: {
        parameters: {
            query?: {
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReconciliationPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reconcile_start: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "credentials": {
                 *         "apiKey": "rk_test_example"
                 *       },
                 *       "since": "2026-11-18T09:00:00Z",
                 *       "types": [
                 *         "invoice.paid"
                 *       ],
                 *       "dryRun": true
                 *     }
                 */
                "application/json": {
                    /** @description For the provider of the endpoint: `{"apiKey"}` or `{"token", "hookUrl"}`. For this run only: stored encrypted, erased at its end, never shown */
                    credentials: {
                        /** @description Stripe: a secret key, or a restricted key that may read events */
                        apiKey?: string | null;
                        /** @description GitHub: a token that may write the hook */
                        token?: string | null;
                        /** @description GitHub: the API URL of the hook, such as `https://api.github.com/repos/octo/app/hooks/1` */
                        hookUrl?: string | null;
                    };
                    /** @description Events since this time, within the retention of the plan; the sender keeps its list for some days */
                    since: string;
                    /** @description Events until this time; events of the last minute are always skipped */
                    until?: string | null;
                    /** @description Only events of these types; left out or empty: of all types */
                    types?: string[] | null;
                    /** @description Only count missing events; fetch nothing */
                    dryRun?: boolean | null;
                };
            };
        };
        responses: {
            /** @description Accepted: queued */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reconciliation"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reconcile_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the reconciliation */
                reconciliationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reconciliation"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reconcile_gaps: {
        parameters: {
            query?: {
                /** @description Only gaps that end in a capture since this time */
                since?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Gaps"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_list: {
        parameters: {
            query?: {
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannelPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "webhook",
                 *       "name": "Ops",
                 *       "settings": {
                 *         "url": "https://ops.acme.dev/alerts"
                 *       },
                 *       "events": [
                 *         {
                 *           "kind": "delivery.parked",
                 *           "minSeverity": "error"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    kind: "slack" | "discord" | "teams" | "googlechat" | "telegram" | "pagerduty" | "opsgenie" | "ntfy" | "webhook";
                    /** @description Shown to people; 1 to 100 characters */
                    name?: string | null;
                    /** @description Off: nothing is sent */
                    enabled?: boolean | null;
                    /** @description The credential that the kind's `credentialLabel` names. Write-only; "" clears */
                    secret?: string | null;
                    /** @description The kind's `fields`; merged member by member, "" takes an optional one back to its default */
                    settings?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Subscribed events; [] for none, omitted on create for all */
                    events?: {
                        /** @enum {string} */
                        kind: "delivery.parked" | "delivery.recovered" | "action.paused" | "certificate.expiring" | "certificate.renewed" | "delivery.held" | "delivery.released" | "delivery.backlog" | "delivery.drained" | "breaker.opened" | "breaker.closed" | "transformation.disabled" | "watchdog.alarmed" | "watchdog.recovered" | "capture.rejected" | "reconcile.gap" | "action.notify";
                        /** @description Default info: every severity */
                        minSeverity?: ("info" | "warning" | "error" | "critical") | null;
                    }[] | null;
                    /** @description Timestamp at most 30 days ahead; "" or a past one unmutes */
                    mutedUntil?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `limit_reached`: The workspace has reached a limit of its plan. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_kinds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["AlertChannelKind"][];
                    };
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_events: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["AlertEvent"][];
                    };
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_eventKinds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["AlertEvent"][];
                    };
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_deliveries: {
        parameters: {
            query?: {
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
                /** @description Only this channel, also if it was deleted */
                channelId?: string;
                eventKind?: "delivery.parked" | "delivery.recovered" | "action.paused" | "certificate.expiring" | "certificate.renewed" | "delivery.held" | "delivery.released" | "delivery.backlog" | "delivery.drained" | "breaker.opened" | "breaker.closed" | "transformation.disabled" | "watchdog.alarmed" | "watchdog.recovered" | "capture.rejected" | "reconcile.gap" | "action.notify" | "channel.test";
                outcome?: "delivered" | "failed" | "muted" | "suppressed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDeliveryPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alert channel */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "enabled": false
                 *     }
                 */
                "application/json": {
                    /** @description Cannot change; accepted when equal */
                    kind?: string | null;
                    /** @description Shown to people; 1 to 100 characters */
                    name?: string | null;
                    /** @description Off: nothing is sent */
                    enabled?: boolean | null;
                    /** @description The credential that the kind's `credentialLabel` names. Write-only; "" clears */
                    secret?: string | null;
                    /** @description The kind's `fields`; merged member by member, "" takes an optional one back to its default */
                    settings?: {
                        [key: string]: unknown;
                    } | null;
                    /** @description Subscribed events; [] for none, omitted on create for all */
                    events?: {
                        /** @enum {string} */
                        kind: "delivery.parked" | "delivery.recovered" | "action.paused" | "certificate.expiring" | "certificate.renewed" | "delivery.held" | "delivery.released" | "delivery.backlog" | "delivery.drained" | "breaker.opened" | "breaker.closed" | "transformation.disabled" | "watchdog.alarmed" | "watchdog.recovered" | "capture.rejected" | "reconcile.gap" | "action.notify";
                        /** @description Default info: every severity */
                        minSeverity?: ("info" | "warning" | "error" | "critical") | null;
                    }[] | null;
                    /** @description Timestamp at most 30 days ahead; "" or a past one unmutes */
                    mutedUntil?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannel"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alert channel */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    alertChannels_test: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alert channel */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertChannelTestResult"];
                };
            };
            /** @description `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    recycleBin_list: {
        parameters: {
            query?: {
                /** @description Only requests of this endpoint */
                endpointId?: string;
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BinnedRequestPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    recycleBin_restore: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "requestIds": [
                 *         90117,
                 *         90118
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 500 ids of captured requests */
                    requestIds?: number[] | null;
                    /** @description Another name for `requestIds`: give one of the two */
                    ids?: number[] | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Restored"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_getSet: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransformationSet"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_create: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "version": 1,
                 *       "name": "Slim",
                 *       "when": {
                 *         "all": [
                 *           {
                 *             "path": "body.type",
                 *             "op": "startsWith",
                 *             "value": "invoice."
                 *           }
                 *         ]
                 *       },
                 *       "steps": [
                 *         {
                 *           "op": "keep",
                 *           "paths": [
                 *             "body.id",
                 *             "body.data.amount"
                 *           ]
                 *         },
                 *         {
                 *           "op": "redact",
                 *           "paths": [
                 *             "headers.Authorization"
                 *           ],
                 *           "with": "***"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TransformationRule"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransformationRuleView"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `limit_reached`: The workspace has reached a limit of its plan.
             *
             *     `no_destination`: A transformation rule was added to an endpoint without a forward action.
             */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_order: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "order": [
                 *         "5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Every rule id of the set exactly once */
                    order: string[];
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransformationSet"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `no_destination`: A transformation rule was added to an endpoint without a forward action. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_previewSet: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "sample": {
                 *         "headers": {
                 *           "Content-Type": "application/json"
                 *         },
                 *         "body": "{\"id\":\"evt_1\",\"type\":\"invoice.paid\",\"data\":{\"amount\":12.5}}"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Documents, or {"ruleId":…} for saved ones; left out, the saved rules that are enabled */
                    rules?: unknown[] | null;
                    /** @description A sample request for the preview; a value without these members is its body */
                    sample?: {
                        /** @default POST */
                        method?: string;
                        /** @default {} */
                        headers?: {
                            [key: string]: string;
                        };
                        /** @default {} */
                        query?: {
                            [key: string]: string | string[];
                        };
                        /** @default  */
                        path?: string;
                        /** @description Text, or any JSON value, which is then serialised */
                        body?: unknown;
                        /**
                         * @description Then `body` is base64
                         * @default false
                         */
                        bodyIsBinary?: boolean;
                        contentType?: string;
                    };
                    /** @description A stored request of the endpoint */
                    requestId?: number | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransformationPreview"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `no_destination`: A transformation rule was added to an endpoint without a forward action. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_get: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the rule */
                ruleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransformationRuleView"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_update: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the rule */
                ruleId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "enabled": false
                 *     }
                 */
                "application/json": {
                    rule?: components["schemas"]["TransformationRule"];
                    enabled?: boolean | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransformationRuleView"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_remove: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the rule */
                ruleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_versions: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the rule */
                ruleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            version: number;
                            rule: components["schemas"]["TransformationRule"];
                            /** Format: date-time */
                            createdAt: string;
                            restoredFrom: number | null;
                        }[];
                    };
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_restore: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description Id of the rule */
                ruleId: string;
                /** @description Version */
                n: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransformationRuleView"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_getFirst: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirstTransformationRule"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_updateFirst: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "enabled": false
                 *     }
                 */
                "application/json": {
                    rule?: components["schemas"]["TransformationRule"];
                    enabled?: boolean | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirstTransformationRule"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `no_destination`: A transformation rule was added to an endpoint without a forward action. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_createFirst: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "version": 1,
                 *       "name": "Slim",
                 *       "when": {
                 *         "all": [
                 *           {
                 *             "path": "body.type",
                 *             "op": "startsWith",
                 *             "value": "invoice."
                 *           }
                 *         ]
                 *       },
                 *       "steps": [
                 *         {
                 *           "op": "keep",
                 *           "paths": [
                 *             "body.id",
                 *             "body.data.amount"
                 *           ]
                 *         },
                 *         {
                 *           "op": "redact",
                 *           "paths": [
                 *             "headers.Authorization"
                 *           ],
                 *           "with": "***"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TransformationRule"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirstTransformationRule"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `limit_reached`: The workspace has reached a limit of its plan.
             *
             *     `no_destination`: A transformation rule was added to an endpoint without a forward action.
             */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_removeFirst: {
        parameters: {
            query?: {
                /** @description A forward action of the endpoint; default the first by position */
                actionId?: string;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `no_destination`: A transformation rule was added to an endpoint without a forward action. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_schema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/schema+json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    transformations_preview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rule": {
                 *         "version": 1,
                 *         "name": "Slim",
                 *         "when": {
                 *           "all": [
                 *             {
                 *               "path": "body.type",
                 *               "op": "startsWith",
                 *               "value": "invoice."
                 *             }
                 *           ]
                 *         },
                 *         "steps": [
                 *           {
                 *             "op": "keep",
                 *             "paths": [
                 *               "body.id",
                 *               "body.data.amount"
                 *             ]
                 *           },
                 *           {
                 *             "op": "redact",
                 *             "paths": [
                 *               "headers.Authorization"
                 *             ],
                 *             "with": "***"
                 *           }
                 *         ]
                 *       },
                 *       "sample": {
                 *         "headers": {
                 *           "Content-Type": "application/json"
                 *         },
                 *         "body": "{\"id\":\"evt_1\",\"type\":\"invoice.paid\",\"data\":{\"amount\":12.5}}"
                 *       }
                 *     }
                 */
                "application/json": {
                    rule: components["schemas"]["TransformationRule"];
                    /** @description A sample request for the preview; a value without these members is its body */
                    sample?: {
                        /** @default POST */
                        method?: string;
                        /** @default {} */
                        headers?: {
                            [key: string]: string;
                        };
                        /** @default {} */
                        query?: {
                            [key: string]: string | string[];
                        };
                        /** @default  */
                        path?: string;
                        /** @description Text, or any JSON value, which is then serialised */
                        body?: unknown;
                        /**
                         * @description Then `body` is base64
                         * @default false
                         */
                        bodyIsBinary?: boolean;
                        contentType?: string;
                    };
                    /** @description With `requestId` */
                    endpointId?: string | null;
                    /** @description A stored request of the endpoint */
                    requestId?: number | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransformationPreview"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watchdogs_list: {
        parameters: {
            query?: {
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WatchdogPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watchdogs_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "endpointId": "0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33",
                 *       "name": "Nightly export",
                 *       "expectedIntervalSeconds": 86400,
                 *       "graceSeconds": 3600
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uuid
                     * @description Id of the endpoint whose captures it watches
                     */
                    endpointId: string;
                    /** @description Default: the name of the endpoint */
                    name?: string | null;
                    match?: ({
                        [key: string]: unknown;
                    } | Record<string, never> | components["schemas"]["InnerCondition"]) | null;
                    /** @description Delay of a capture before the alarm, in seconds; default a fifth of the interval, at least 60 */
                    graceSeconds?: number | null;
                    /** @description Off: paused */
                    active?: boolean | null;
                    /** @description Workspace contacts who get its alarms by mail, besides the alert channels */
                    alertContactIds?: string[] | null;
                    /** @description Expected interval between matching captures: a second to 31 days */
                    expectedIntervalSeconds: number;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Watchdog"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `limit_reached`: The workspace has reached a limit of its plan. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watchdogs_suggest: {
        parameters: {
            query: {
                /** @description Id of the endpoint */
                endpointId: string;
                /** @description A condition as JSON text; left out, every capture is measured */
                match?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WatchdogSuggestion"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watchdogs_labels: {
        parameters: {
            query: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WatchdogLabels"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watchdogs_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the watchdog */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Watchdog"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watchdogs_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "graceSeconds": 7200
                 *     }
                 */
                "application/json": {
                    /** @description Fixed on create: equal or left out */
                    endpointId?: string | null;
                    /** @description Default: the name of the endpoint */
                    name?: string | null;
                    match?: ({
                        [key: string]: unknown;
                    } | Record<string, never> | components["schemas"]["InnerCondition"]) | null;
                    /** @description Delay of a capture before the alarm, in seconds; default a fifth of the interval, at least 60 */
                    graceSeconds?: number | null;
                    /** @description Off: paused */
                    active?: boolean | null;
                    /** @description Workspace contacts who get its alarms by mail, besides the alert channels */
                    alertContactIds?: string[] | null;
                    expectedIntervalSeconds?: number | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Watchdog"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watchdogs_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the watchdog */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watchdogs_timeline: {
        parameters: {
            query?: {
                /** @description Begin; default eight intervals before `to` */
                from?: string;
                /** @description End, exclusive; default now */
                to?: string;
            };
            header?: never;
            path: {
                /** @description Id of the watchdog */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WatchdogTimeline"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    watchdogs_setActive: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the watchdog */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "active": false
                 *     }
                 */
                "application/json": {
                    active: boolean;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Watchdog"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    keys_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ApiKey"][];
                    };
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    keys_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "ci",
                 *       "scope": "write",
                 *       "allowedNetworks": [
                 *         "203.0.113.0/24"
                 *       ]
                 *     }
                 */
                "application/json": {
                    name: string;
                    /** @description Default `admin` */
                    scope?: ("read" | "write" | "admin") | null;
                    /** @description Limits the key to this endpoint; not for `admin` */
                    endpointId?: string | null;
                    /** @description Expiry of the key; default never */
                    expiresAt?: string | null;
                    /** @description CIDRs and addresses that may use the key; default all */
                    allowedNetworks?: string[] | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             *
             *     `feature_not_in_plan`: The plan does not include this operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `limit_reached`: The workspace has reached a limit of its plan. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    keys_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    keys_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "ci",
                 *       "expiresAt": "2027-01-01T00:00:00Z"
                 *     }
                 */
                "application/json": {
                    name?: string | null;
                    /** @description Null: never */
                    expiresAt?: string | null;
                    /** @description Null: from anywhere */
                    allowedNetworks?: string[] | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    keys_rotate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlapSeconds": 3600
                 *     }
                 */
                "application/json": {
                    /**
                     * @description Seconds that the old key keeps working, unless it expires before
                     * @default 86400
                     */
                    overlapSeconds?: number;
                    /** @description Expiry of the new key; default never */
                    expiresAt?: string | null;
                };
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewApiKey"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    audit_list: {
        parameters: {
            query?: {
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
                /** @description Only this action, such as `endpoints.update` */
                action?: string;
                actorKind?: "key" | "session" | "operator" | "service";
                /** @description Id of the key or the session */
                actorId?: string;
                /** @description Only subjects of this type: `endpoint`, `key`, … */
                subjectType?: string;
                subjectId?: string;
                /** @description Only this endpoint, also if it was deleted */
                endpointId?: string;
                /** @description At or after */
                since?: string;
                /** @description Before */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sessions_signInLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInLink"];
                };
            };
            /** @description `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    incidents_list: {
        parameters: {
            query?: {
                /** @description 1-based, from the cursor if there is one; past the end answers no items */
                page?: number;
                /** @description Items a page */
                pageSize?: number;
                /** @description Cursor, `next` of a page: only what follows that page. Costs the same at any depth */
                before?: string;
                /** @description Cursor, `previous` of a page: only what is newer than that page */
                after?: string;
                /** @description Only those in this state */
                state?: "open" | "closed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IncidentPage"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    conditions_try: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "condition": {
                 *         "all": [
                 *           {
                 *             "path": "body.type",
                 *             "op": "startsWith",
                 *             "value": "invoice."
                 *           }
                 *         ]
                 *       },
                 *       "last": 100
                 *     }
                 */
                "application/json": {
                    /** @description Condition, as in an action, a rule or a watchdog */
                    condition: Record<string, never> | components["schemas"]["InnerCondition"];
                    /**
                     * @description Number of requests to test
                     * @default 500
                     */
                    last?: number;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConditionPreview"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    verification_try: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "requestId": 90117,
                 *       "provider": "stripe",
                 *       "signingSecret": "whsec_x1"
                 *     }
                 */
                "application/json": {
                    /** @description Id of the captured request that is tried */
                    requestId: number;
                    /** @description Slug of the provider catalog; "" for none */
                    provider?: string | null;
                    /** @description Write-only; "" clears. For rsa and ed25519: the public key */
                    signingSecret?: string | null;
                    /** @description Write-only; "" clears */
                    handshakeToken?: string | null;
                    /** @description Makes the scheme manual; "" goes back to the preset */
                    signatureHeader?: string | null;
                    /** @description Hash of a manual scheme; "" is the default, sha256 */
                    signatureAlgorithm?: ("sha1" | "sha256" | "sha512" | "rsa-sha256" | "rsa-sha512" | "ed25519" | "") | null;
                    /** @description Encoding of a manual scheme; "" is the default, hex */
                    signatureEncoding?: ("hex" | "base64" | "base64url" | "") | null;
                    signaturePrefix?: string | null;
                };
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerificationPreview"];
                };
            };
            /**
             * @description `validation_failed`: Parts of the input are invalid. Nothing was saved.
             *
             *     `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    workspace_usage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    workspace_traffic: {
        parameters: {
            query?: {
                /** @description Begin; default an hour before `to` */
                from?: string;
                /** @description End, exclusive; default now */
                to?: string;
                /** @description Parts of the period, of equal length */
                buckets?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AllTraffic"];
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_exportMany: {
        parameters: {
            query?: {
                /** @description HTTP method, without case */
                method?: string;
                /** @description Latest delivery state */
                state?: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted" | "NotAttempted" | "Skipped";
                /** @description Text found in path, query string, header values or text body, without case */
                q?: string;
                /** @description Received at or after */
                since?: string;
                /** @description Received before */
                until?: string;
                /** @description Only requests with a greater id */
                afterId?: number;
                /** @description `none`: nothing was checked */
                verification?: "verified" | "failed" | "unsigned" | "unverifiable" | "none";
                /** @description Exact event type */
                label?: string;
                /** @description Exact event id of the sender; also an id that is too long to be stored unchanged */
                eventId?: string;
                /** @description `true`: only duplicates by `dedupe` of the endpoint; `false`: none of them */
                duplicate?: boolean | null;
                /** @description Default `ndjson` */
                format?: "ndjson" | "har";
                /** @description Shows the values of headers with names of credentials; default masked */
                includeSecrets?: boolean | null;
            };
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "application/json": string;
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_import: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        importedCount: number;
                        /** @description Id of the first request that was stored */
                        firstId: number | null;
                        lastId: number | null;
                    };
                };
            };
            /** @description `request_invalid`: The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `limit_reached`: The workspace has reached a limit of its plan. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    requests_follow: {
        parameters: {
            query?: {
                /** @description HTTP method, without case */
                method?: string;
                /** @description Latest delivery state */
                state?: "Succeeded" | "Failed" | "Errored" | "DeadLetter" | "Pending" | "Interrupted" | "NotAttempted" | "Skipped";
                /** @description Text found in path, query string, header values or text body, without case */
                q?: string;
                /** @description Received at or after */
                since?: string;
                /** @description Received before */
                until?: string;
                /** @description Only requests with a greater id */
                afterId?: number;
                /** @description `none`: nothing was checked */
                verification?: "verified" | "failed" | "unsigned" | "unverifiable" | "none";
                /** @description Exact event type */
                label?: string;
                /** @description Exact event id of the sender; also an id that is too long to be stored unchanged */
                eventId?: string;
                /** @description `true`: only duplicates by `dedupe` of the endpoint; `false`: none of them */
                duplicate?: boolean | null;
                /** @description Id of the last event that was received: the header `Last-Event-ID`, for clients that cannot set it */
                lastEventId?: string;
                /** @description Sends requests with target, headers and body, however far behind, and no delivery changes; for clients that forward captures. A reader that is too slow gets `behind`, and the stream ends. */
                whole?: boolean | null;
                /** @description A reader that is too far behind (more than 100 requests if many follow) gets the newest requests at once, as page 1 of the list; for pages that show the newest. Only without filters. */
                newest?: boolean | null;
                /** @description Name of the listener. It gets replays, and requests in full */
                listener?: string;
            };
            header?: {
                /** @description Id of the last event that was received: the stream continues after it */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description Id of the endpoint */
                endpointId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, until either side ends the stream; a comment after 15 s of silence */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description `validation_failed`: Parts of the input are invalid. Nothing was saved. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unauthorized`: No API key was sent, or it is unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /**
             * @description `api_access_disabled`: The key is valid, but the workspace's plan has no API access.
             *
             *     `forbidden`: The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `not_found`: The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`: The key has used its calls of this minute, or too many calls of one kind run at once. */
            429: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error`: The service failed. Its log has the cause under the same `traceId`. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `unavailable`: The service cannot answer now: its database is unreachable, or the search took too long. */
            503: {
                headers: {
                    /** @description Seconds after which a retry is served */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
