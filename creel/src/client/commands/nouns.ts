/** Things that commands list, make, change and delete in the same way; their members are those of the API. */
export interface Noun {
  /** One of them, in words. */
  readonly one: string
  /** Route of the list, and of making one. */
  readonly list: string
  /** Route of one; its last segment is the id. */
  readonly item: string
  /** Member of the list's answer that holds them; undefined: pages. */
  readonly listedIn?: string
  /** Where the endpoint is named: in the path, or in the body when one is made. */
  readonly endpoint?: 'path' | 'body'
  /** Whether they belong to an action, the first one by default. */
  readonly hasAction?: true
  /** Member that a file holds when one is changed; undefined: the whole body. */
  readonly fileMember?: string
  /** Members that a list shows. */
  readonly columns: readonly string[]
  /** Options that make one, as an example. */
  readonly example: string
}

/** Actions of an endpoint. */
export const ACTIONS: Noun = {
  one: 'action',
  list: '/api/v1/endpoints/{endpointId}/actions',
  item: '/api/v1/endpoints/{endpointId}/actions/{actionId}',
  listedIn: 'actions',
  endpoint: 'path',
  columns: ['id', 'name', 'kind', 'isActive', 'url', 'alertChannelName'],
  example: '-e orders --set kind=forward name=Billing url=https://app.example.com/hooks',
}

/** Transformation rules of an action. */
export const RULES: Noun = {
  one: 'rule',
  list: '/api/v1/endpoints/{endpointId}/transformations',
  item: '/api/v1/endpoints/{endpointId}/transformations/{ruleId}',
  listedIn: 'rules',
  endpoint: 'path',
  hasAction: true,
  fileMember: 'rule',
  columns: ['id', 'position', 'name', 'enabled'],
  example: '-e orders --file rule.json',
}

/** Alert channels of the workspace. */
export const CHANNELS: Noun = {
  one: 'channel',
  list: '/api/v1/alert-channels',
  item: '/api/v1/alert-channels/{id}',
  columns: ['id', 'name', 'kind', 'enabled', 'health', 'destination'],
  example: '--set kind=slack name=ops secret=https://hooks.slack.com/services/…',
}

/** Watchdogs of the workspace. */
export const WATCHDOGS: Noun = {
  one: 'watchdog',
  list: '/api/v1/watchdogs',
  item: '/api/v1/watchdogs/{id}',
  endpoint: 'body',
  columns: ['id', 'name', 'endpointName', 'state'],
  example: '-e orders --set expectedIntervalSeconds=3600 graceSeconds=300',
}
