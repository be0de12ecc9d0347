/**
 * Every operation under `/api/v1` in the public description, with the singular `transformation` routes and one alias.
 * The list is maintained by hand, from the text; the router is compared with it.
 */
export const ROUTES_OF_SPEC: readonly string[] = [
  'GET /api/v1/me',
  'GET /api/v1/providers',

  'GET /api/v1/endpoints',
  'POST /api/v1/endpoints',
  'GET /api/v1/endpoints/{}',
  'PATCH /api/v1/endpoints/{}',
  'DELETE /api/v1/endpoints/{}',
  'GET /api/v1/endpoints/{}/stats',

  'GET /api/v1/endpoints/{}/actions',
  'POST /api/v1/endpoints/{}/actions',
  'PUT /api/v1/endpoints/{}/actions/{}',
  'DELETE /api/v1/endpoints/{}/actions/{}',
  'POST /api/v1/endpoints/{}/actions/{}/pause',
  'POST /api/v1/endpoints/{}/actions/{}/resume',
  'GET /api/v1/endpoints/{}/actions/{}/backlog',
  'POST /api/v1/endpoints/{}/deliveries/{}/skip',

  'GET /api/v1/endpoints/{}/transformations',
  'POST /api/v1/endpoints/{}/transformations',
  'PUT /api/v1/endpoints/{}/transformations/order',
  'GET /api/v1/endpoints/{}/transformations/{}',
  'PUT /api/v1/endpoints/{}/transformations/{}',
  'DELETE /api/v1/endpoints/{}/transformations/{}',
  'GET /api/v1/endpoints/{}/transformations/{}/versions',
  'POST /api/v1/endpoints/{}/transformations/{}/versions/{}/restore',
  'POST /api/v1/endpoints/{}/transformations/preview-set',
  'GET /api/v1/endpoints/{}/transformation',
  'POST /api/v1/endpoints/{}/transformation',
  'PUT /api/v1/endpoints/{}/transformation',
  'DELETE /api/v1/endpoints/{}/transformation',
  'GET /api/v1/transformations/schema',
  'POST /api/v1/transformations/preview',

  'GET /api/v1/endpoints/{}/requests',
  'DELETE /api/v1/endpoints/{}/requests',
  'GET /api/v1/endpoints/{}/requests/await',
  'GET /api/v1/requests/{}',
  'GET /api/v1/endpoints/{}/requests/{}',
  'DELETE /api/v1/endpoints/{}/requests/{}',
  'POST /api/v1/endpoints/{}/requests/bulk-delete',
  'POST /api/v1/endpoints/{}/requests/{}/replay',
  'POST /api/v1/endpoints/{}/requests/{}/confirm',
  'POST /api/v1/endpoints/{}/requests/{}/send',
  'POST /api/v1/endpoints/{}/requests/bulk-replay',
  'GET /api/v1/endpoints/{}/requests/{}/export',
  'GET /api/v1/endpoints/{}/requests/export',
  'POST /api/v1/endpoints/{}/requests/import',

  'POST /api/v1/endpoints/{}/requests/{}/listen-attempts',
  'GET /api/v1/samples',
  'POST /api/v1/endpoints/{}/samples',

  'GET /api/v1/events/types',
  'POST /api/v1/events/poll',

  'POST /api/v1/endpoints/{}/reconcile',
  'GET /api/v1/endpoints/{}/reconcile',
  'GET /api/v1/endpoints/{}/reconcile/{}',
  'GET /api/v1/endpoints/{}/gaps',

  'GET /api/v1/endpoints/{}/requests/{}/body',
  'GET /api/v1/endpoints/{}/shape',
  'POST /api/v1/endpoints/{}/verification/preview',
  'POST /api/v1/endpoints/{}/deliveries/{}/retry',
  'GET /api/v1/traffic',
  'GET /api/v1/watchdogs/{}/timeline',

  'GET /api/v1/endpoints/{}/deliveries',
  'GET /api/v1/endpoints/{}/deliveries/{}',

  'GET /api/v1/recycle-bin',
  'POST /api/v1/recycle-bin/restore',

  'GET /api/v1/alert-channels',
  'POST /api/v1/alert-channels',
  'GET /api/v1/alert-channels/{}',
  'PUT /api/v1/alert-channels/{}',
  'DELETE /api/v1/alert-channels/{}',
  'POST /api/v1/alert-channels/{}/test',
  'GET /api/v1/alert-channels/kinds',
  'GET /api/v1/alert-channels/events',
  'GET /api/v1/alert-channels/event-kinds',
  'GET /api/v1/alert-channels/deliveries',

  'GET /api/v1/watchdogs',
  'POST /api/v1/watchdogs',
  'GET /api/v1/watchdogs/{}',
  'PUT /api/v1/watchdogs/{}',
  'DELETE /api/v1/watchdogs/{}',
  'POST /api/v1/watchdogs/{}/active',
  'GET /api/v1/watchdogs/suggest',
  'GET /api/v1/watchdogs/labels',

  'GET /api/v1/audit',

  'GET /api/v1/keys',
  'POST /api/v1/keys',
  'PATCH /api/v1/keys/{}',
  'DELETE /api/v1/keys/{}',
  'POST /api/v1/keys/{}/rotate',

  'POST /api/v1/endpoints/{}/rotate-url',

  'POST /api/v1/sign-in-links',

  'GET /api/v1/endpoints/{}/traffic',
  'GET /api/v1/incidents',
  'GET /api/v1/usage',
  'POST /api/v1/endpoints/{}/conditions/preview',
]
