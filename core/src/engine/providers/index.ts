export { nodeAt, nodesAt } from './bodyPath.ts'
export { findProvider, PROVIDERS, SIGNATURE_HEADERS, TOKEN_NAMES } from './catalog.ts'
export type {
  ChallengeExpression,
  ChallengeTerm,
  EventIdPlace,
  EventTypePlace,
  HandshakeRow,
  HashName,
  Pattern,
  ProviderRow,
  SchemeRow,
  SentList,
  Sequence,
  SignatureEncoding,
  SignaturePlace,
  TimestampPlace,
} from './catalogSchema.ts'
