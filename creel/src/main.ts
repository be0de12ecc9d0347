import { runProgram } from './program.ts'

// From a checkout the embedded PostgreSQL is the installed npm package.
await runProgram(process.argv.slice(2), { runtime: undefined })
