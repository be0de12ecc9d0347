import { expect, test } from 'bun:test'
import pg from 'pg'
import { ACTION_KINDS } from '../../core/src/actions/schema.ts'
import { HEALTHS } from '../../core/src/alertChannels/health.ts'
import { CHANNEL_KIND_NAMES } from '../../core/src/alertChannels/kinds/index.ts'
import { OUTCOMES } from '../../core/src/alertChannels/schema.ts'
import { CLOSED_BY, EVENT_KINDS, SEVERITIES } from '../../core/src/alerts/events.ts'
import { ACTOR_KINDS } from '../../core/src/api/services.ts'
import { BREAKER_STATES } from '../../core/src/deliveries/flow/decide.ts'
import { SIGNING_SCHEMES } from '../../core/src/engine/signing/index.ts'
import { SIGNATURE_ALGORITHMS, SIGNATURE_ENCODINGS } from '../../core/src/engine/verification/index.ts'
import { KEY_KINDS, KEY_SCOPES } from '../../core/src/engine/words/index.ts'
import { FAULTS, OUTCOMES as REPLAY_OUTCOMES } from '../../core/src/rehearsals/schema.ts'
import { FAILURES } from '../../core/src/subscriptions/callback.ts'
import { readWords, TABLES_FILE, tablesText } from '../../scripts/dbTypes.ts'
import { createTestDatabase } from '../support/database.ts'

test('the types of the tables are those that the migrations make: else run `bun scripts/dbTypes.ts`', async () => {
  const database = await createTestDatabase()
  expect(await tablesText(database.url)).toBe(await Bun.file(TABLES_FILE).text())
  await database.drop()
})

test('lists of words in the code are those that the checks of their columns allow', async () => {
  const lists: Readonly<Record<string, readonly string[]>> = {
    'action_flows.breaker': BREAKER_STATES,
    'actions.kind': ACTION_KINDS,
    'actions.signing_scheme': SIGNING_SCHEMES,
    'alert_channels.health': HEALTHS,
    'alert_channels.kind': CHANNEL_KIND_NAMES,
    'alert_deliveries.channel_kind': ['email', ...CHANNEL_KIND_NAMES],
    'alert_deliveries.outcome': OUTCOMES,
    'alerts.event_kind': EVENT_KINDS,
    'alerts.severity': SEVERITIES,
    'api_keys.kind': KEY_KINDS,
    'api_keys.scope': KEY_SCOPES,
    'audit_entries.actor_kind': ACTOR_KINDS,
    'endpoints.signature_algorithm': SIGNATURE_ALGORITHMS,
    'endpoints.signature_encoding': SIGNATURE_ENCODINGS,
    'event_subscriptions.last_error': FAILURES,
    'incidents.kind': Object.keys(CLOSED_BY),
    'incidents.severity': SEVERITIES,
    'replay_items.fault': FAULTS,
    'replay_items.outcome': REPLAY_OUTCOMES,
  }
  const database = await createTestDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const words = await readWords(client)
  const { rows } = await client.query<{ key: string; name: string }>(
    `select attrelid || '.' || attnum as key, attrelid::regclass || '.' || attname as name
     from pg_attribute where attrelid::regclass || '.' || attname = any($1)`,
    [Object.keys(lists)],
  )
  const allowed = Object.fromEntries(rows.map(({ key, name }) => [name, words.get(key)?.toSorted()]))
  expect(allowed).toEqual(
    Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.toSorted()])),
  )
  await client.end()
  await database.drop()
})
