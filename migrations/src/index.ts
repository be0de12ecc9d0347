export { migrate, migrationState } from './migrate.ts'
export { MIGRATIONS, STOPS } from './migrations.ts'
