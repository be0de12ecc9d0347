/** The tags of the description, in reading order: one for each folder of core, with its topic. */
export const NOUNS: readonly {
  readonly name: string
  readonly title: string
  readonly description: string
}[] = [
  { name: 'me', title: 'Me', description: 'The API key, its workspace and the limits of the plan.' },
  {
    name: 'endpoints',
    title: 'Endpoints',
    description: 'Capture URLs, and the answers that senders get.',
  },
  {
    name: 'requests',
    title: 'Captured requests',
    description: 'Captured requests: list, search, read, await, replay and delete.',
  },
  {
    name: 'actions',
    title: 'Actions',
    description: 'Steps for each captured request: forward it to a URL, or notify an alert channel.',
  },
  {
    name: 'transformations',
    title: 'Transformation rules',
    description: 'JSON rules that change the requests that a forward destination receives.',
  },
  {
    name: 'deliveries',
    title: 'Deliveries',
    description: 'Every delivery attempt, with its exact request and response.',
  },
  {
    name: 'recycleBin',
    title: 'Recycle bin',
    description: 'Deleted requests, which can be restored until they are purged.',
  },
  {
    name: 'erasures',
    title: 'Erasures',
    description: 'Find and delete everything that holds a value, like the address of a person.',
  },
  {
    name: 'alertChannels',
    title: 'Alert channels',
    description: 'Destinations of alerts, and the record of sent alerts.',
  },
  {
    name: 'watchdogs',
    title: 'Watchdogs',
    description: "Dead man's switches: they alarm when an expected capture does not arrive.",
  },
  {
    name: 'providers',
    title: 'Provider catalog',
    description: 'Senders with known signatures, event types and handshakes.',
  },
  {
    name: 'events',
    title: 'Events',
    description: 'Webhooks as events for agents, as the Model Context Protocol has them.',
  },
  {
    name: 'subscriptions',
    title: 'Event subscriptions',
    description: 'Callbacks of agents that are sent events.',
  },
  {
    name: 'reconcile',
    title: 'Reconciliation',
    description: "Comparison of a sender's event list with the captures. Missing events are fetched.",
  },
  {
    name: 'replays',
    title: 'Replays',
    description: 'Replays of many captured requests, with faults, and comparison of the answers.',
  },
  {
    name: 'samples',
    title: 'Samples',
    description: 'Signed sample events of well-known providers, to test an endpoint.',
  },
  {
    name: 'sessions',
    title: 'Console',
    description: 'Sign-in links for browsers.',
  },
  {
    name: 'audit',
    title: 'Audit log',
    description: 'Record of changes, with actor, time and address.',
  },
  {
    name: 'keys',
    title: 'API keys',
    description: 'Keys of the workspace: create, list, rotate and revoke.',
  },
  {
    name: 'incidents',
    title: 'Incidents',
    description: 'Open and closed problems, one per outage of a subject.',
  },
  {
    name: 'workspace',
    title: 'Workspace',
    description: 'Usage of the workspace, with the limits of its plan.',
  },
  {
    name: 'conditions',
    title: 'Conditions',
    description: 'Conditions of actions, rules and watchdogs, tested on captured requests.',
  },
  {
    name: 'verification',
    title: 'Verification',
    description: 'Signature checks, tested on captured requests.',
  },
]
