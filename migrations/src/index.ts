export { migrate } from './migrate.ts'
export { MIGRATIONS } from './migrations.ts'
export { type MigrationState, migrationState } from './pending.ts'
export { STOPS } from './stops.ts'
