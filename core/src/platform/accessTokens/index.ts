export {
  type AccessTokens,
  type ClientCredentials,
  createAccessTokens,
  type TokenResult,
} from './accessTokens.ts'
