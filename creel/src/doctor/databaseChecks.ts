import { type Db, run, statement } from '@creel/core'
import { migrationState } from '@creel/migrations'

const MIB = 1024 * 1024
const CLOCK_SECONDS_MAX = 5
/** Connections that one process of Creel may open, and a few for operators. */
const CONNECTIONS_MIN = 40

/** Settings of PostgreSQL that {@link settingChecks} judges, by their names. Sizes are in bytes. */
export type Settings = Readonly<Record<string, string | undefined>>

const isOn = (value: string) => value === 'on'
const atLeast = (bytes: number) => (value: string) => Number(value) >= bytes

/** Each setting: how it is judged, a value to set, the level, and what happens otherwise. */
const RULES: readonly (readonly [
  setting: string,
  isFine: (value: string) => boolean,
  wanted: string,
  level: 'warning' | 'failure',
  reason: string,
])[] = [
  ['fsync', isOn, 'on', 'failure', 'a crash of the machine can lose or damage acknowledged captures'],
  ['full_page_writes', isOn, 'on', 'failure', 'a crash of the machine can damage pages'],
  [
    'synchronous_commit',
    (value) => value !== 'off',
    'on',
    'failure',
    'captures are acknowledged before they are on disk',
  ],
  ['autovacuum', isOn, 'on', 'failure', 'deleted rows are never cleaned up, so the tables grow'],
  ['max_wal_size', atLeast(1024 * MIB), '2GB', 'warning', 'many captures cause frequent checkpoints'],
  [
    'min_wal_size',
    atLeast(512 * MIB),
    '512MB',
    'warning',
    'captures pause for about 50 ms whenever a new WAL segment is created',
  ],
  [
    'shared_buffers',
    atLeast(128 * MIB),
    '128MB or more',
    'warning',
    'pages that captures need are read from disk repeatedly',
  ],
  [
    'max_connections',
    (value) => Number(value) >= CONNECTIONS_MIN,
    `${CONNECTIONS_MIN} or more`,
    'warning',
    'one process of Creel may not get all its connections',
  ],
]

/**
 * Judges the settings of a PostgreSQL.
 *
 * @param isEmbedded the program sets them itself, and makes room in the WAL, so only durability is judged
 */
export function settingChecks(settings: Settings, isEmbedded: boolean): Check[] {
  return RULES.filter(([, , , level]) => !isEmbedded || level === 'failure').map(
    ([setting, isFine, wanted, level, reason]) => {
      const value = settings[setting] ?? ''
      return isFine(value)
        ? check(`PostgreSQL ${setting}`, 'ok', shown(value))
        : check(`PostgreSQL ${setting}`, level, `${shown(value)}: ${reason}`, `Set ${setting} to ${wanted}.`)
    },
  )
}

/** Bytes as PostgreSQL writes them, where a value is a size in whole MiB. */
function shown(value: string): string {
  const bytes = Number(value)
  return bytes >= MIB && bytes % MIB === 0 ? `${bytes / MIB}MB` : value
}

/** Reads the settings `$1`, sizes in bytes, and the clock in milliseconds. */
const SETTINGS = statement(
  'settings of server',
  `select name, case when unit is null or unit not in ('8kB', 'MB', 'kB', 'B') then setting
    else pg_size_bytes(current_setting(name))::text end as value
  from pg_settings where name = any($1)
  union all select 'clock', (extract(epoch from clock_timestamp()) * 1000)::text`,
  { isPrepared: false, notNull: ['name', 'value'] },
)

/** Checks version, settings, clock and schema of the database. */
export async function databaseChecks(db: Db, isEmbedded: boolean): Promise<Check[]> {
  const askedAt = Date.now()
  const rows = await run(db, SETTINGS, [['server_version', ...RULES.map(([setting]) => setting)]])
  const settings = Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  const answeredAt = Date.now()
  const { pending, unknown } = await migrationState(db)
  return [
    check('PostgreSQL', 'ok', settings.server_version ?? ''),
    ...settingChecks(settings, isEmbedded),
    clockCheck(Number(settings.clock) - (askedAt + answeredAt) / 2),
    schemaCheck(pending, unknown),
    ...(pending.length === 0 ? await keyChecks(db, isEmbedded) : []),
  ]
}

/** Comment on the schema `creel_keys` by which operators say that no backup has it together with the data. */
const APART = 'dumped apart'

const KEYS = statement(
  'keys of sealed captures',
  `select (select count(*)::int from creel_keys.endpoint_keys) + (select count(*)::int from endpoints where forward_original) as endpoints,
    obj_description('creel_keys'::regnamespace, 'pg_namespace') as remark, current_setting('archive_mode') as archive_mode`,
  { isPrepared: false, notNull: ['archiveMode'] },
)

/**
 * Checks that backups can be without the keys of what they hold: else a shred does not reach them. Nothing is checked
 * where nothing is sealed.
 */
async function keyChecks(db: Db, isEmbedded: boolean): Promise<Check[]> {
  const [row] = await run(db, KEYS, [])
  if (row === undefined || row.endpoints === 0) return []
  const name = 'keys in backups'
  if (isEmbedded) {
    const found =
      'an archive of the data folder has captures together with their keys: a shred does not reach it'
    const change = 'Keep archives for days only, or use an own PostgreSQL and dump creel_keys apart.'
    return [check(name, 'warning', found, change)]
  }
  if (row.archiveMode !== 'off') {
    const found = `archive_mode is ${row.archiveMode}: physical backups have captures together with their keys`
    return [check(name, 'warning', found, 'Keep physical backups and archived WAL for days only.')]
  }
  if (row.remark === APART) return [check(name, 'ok', 'the schema creel_keys is dumped apart')]
  const found =
    'a dump of the whole database has captures together with their keys: a shred does not reach it'
  const change = `Dump creel_keys apart (docs/operations.md), then run: comment on schema creel_keys is '${APART}'.`
  return [check(name, 'warning', found, change)]
}

function clockCheck(differenceMs: number): Check {
  const seconds = Math.abs(differenceMs) / 1000
  return seconds <= CLOCK_SECONDS_MAX
    ? check('clock', 'ok', `${seconds.toFixed(1)} s from the clock of the database`)
    : check(
        'clock',
        'failure',
        `${seconds.toFixed(0)} s from the clock of the database`,
        'Synchronise both machines by NTP: signatures, leases and watchdogs depend on the time.',
      )
}

function schemaCheck(pending: readonly string[], unknown: readonly string[]): Check {
  if (unknown.length > 0) {
    return check(
      'schema',
      'failure',
      `a newer version of creel has migrated the database (${unknown.join(', ')})`,
      'Run that version, or restore an older backup.',
    )
  }
  if (pending.length === 0) return check('schema', 'ok', 'up to date')
  return check(
    'schema',
    'warning',
    `${pending.length} migrations are pending`,
    'Run `creel upgrade-check`, then `creel migrate`, or restart the service.',
  )
}

export interface Check {
  /** The subject, such as `disk`. */
  readonly name: string
  /** A `failure` loses data or stops the service; a `warning` costs speed, or will become a failure. */
  readonly level: 'ok' | 'warning' | 'failure'
  readonly found: string
  readonly change: string | null
}

/** Makes a {@link Check}. */
export function check(
  name: string,
  level: Check['level'],
  found: string,
  change: string | null = null,
): Check {
  return { name, level, found, change }
}
