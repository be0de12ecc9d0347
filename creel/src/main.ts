import { runProgram } from './program.ts'

// In a checkout, the embedded PostgreSQL is the installed npm package.
await runProgram(process.argv.slice(2), {
  runtime: undefined,
  serveWords: [process.execPath, ...process.execArgv, Bun.main, 'serve'],
})
