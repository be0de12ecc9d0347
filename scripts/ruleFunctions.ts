/** Prints docs/rules-functions.md from the table of functions. A test fails while the page is stale. */
import { join } from 'node:path'
import { functionsPage } from '../core/src/transformations/functions/docs.ts'

await Bun.write(join(import.meta.dir, '..', 'docs', 'rules-functions.md'), functionsPage())
