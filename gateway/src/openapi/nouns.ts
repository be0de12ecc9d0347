/** The tags of the description, in reading order: one for each folder of core, with its topic. */
export const NOUNS: readonly {
  readonly name: string
  readonly title: string
  readonly description: string
}[] = [
  { name: 'me', title: 'Me', description: 'Who the API key is, and what its plan allows.' },
  {
    name: 'endpoints',
    title: 'Endpoints',
    description: 'Capture URLs: what senders post to, and how they are answered.',
  },
  {
    name: 'requests',
    title: 'Captured requests',
    description: 'What arrived: list, search, read, wait for, replay and delete.',
  },
  {
    name: 'actions',
    title: 'Actions',
    description: 'What happens to each captured request: forward it to a URL, or tell an alert channel.',
  },
  {
    name: 'transformations',
    title: 'Transformation rules',
    description: 'Declarative JSON rules that shape what a forward destination receives.',
  },
  {
    name: 'deliveries',
    title: 'Deliveries',
    description: 'Every attempt at a delivery, with exactly what was sent and received.',
  },
  {
    name: 'recycleBin',
    title: 'Recycle bin',
    description: 'Deleted requests, which can be restored until they are purged.',
  },
  {
    name: 'alertChannels',
    title: 'Alert channels',
    description: 'Where alerts go, and the record of what was sent.',
  },
  {
    name: 'watchdogs',
    title: 'Watchdogs',
    description: "Dead man's switches: they alarm when an expected capture does not arrive.",
  },
  {
    name: 'providers',
    title: 'Provider catalog',
    description: 'The senders whose signatures, event types and handshakes are known.',
  },
  {
    name: 'reconcile',
    title: 'Reconciliation',
    description:
      'What a sender says that it sent, compared with what was captured; what never came is brought.',
  },
  {
    name: 'samples',
    title: 'Samples',
    description: 'Events of well-known providers, made up and signed, to try an endpoint with.',
  },
  {
    name: 'sessions',
    title: 'Console',
    description: 'Signing a browser in.',
  },
  {
    name: 'audit',
    title: 'Audit log',
    description: 'Who changed what, when and from where.',
  },
  {
    name: 'keys',
    title: 'API keys',
    description: 'Keys of the workspace: made, listed and revoked by its owner.',
  },
  {
    name: 'incidents',
    title: 'Incidents',
    description: 'What is or was out of order: one an outage of a subject.',
  },
  {
    name: 'workspace',
    title: 'Workspace',
    description: "What the workspace uses, beside its plan's limits.",
  },
  {
    name: 'conditions',
    title: 'Conditions',
    description: 'What actions, rules and watchdogs ask of a request, tried on what was captured.',
  },
  {
    name: 'verification',
    title: 'Verification',
    description: 'How signatures of captures are checked, tried on what was captured.',
  },
]
