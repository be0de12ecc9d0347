export { addOAuth, mcpChallenge } from './routes.ts'
export { exchangedTextOf, revokedTextOf } from './tokens.ts'
