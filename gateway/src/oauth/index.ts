export { addOAuth, mcpChallenge } from './routes.ts'
export { exchangedTextOf } from './tokens.ts'
