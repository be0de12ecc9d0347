export { migrate } from './migrate.ts'
export { MIGRATIONS } from './migrations.ts'
