import { z } from 'zod'

/**
 * The schema of `catalog.json`, which describes each provider as data. A new provider is a new row. Code changes only
 * when a provider does something that no row can express yet.
 *
 * Paths into JSON are written `events[0].type`; `[*]` means every element.
 */

const Text = z.string().min(1)

/** A digest by its node:crypto name. */
export const HashName = z.enum(['md5', 'sha1', 'sha256', 'sha384', 'sha512'])
/** One of the digests that the schema allows. */
export type HashName = z.infer<typeof HashName>

/** How the bytes of a signature are written. */
export const SignatureEncoding = z.enum(['hex', 'base64', 'base64url', 'plain', 'jws'])
/** One of the encodings that the schema allows. */
export type SignatureEncoding = z.infer<typeof SignatureEncoding>

/** Location of the event type. The catalog shows the first one of a provider. */
const EventTypePlace = z.discriminatedUnion('in', [
  z.strictObject({ in: z.literal('header'), name: Text, percentEncoded: z.boolean().optional() }),
  z.strictObject({ in: z.literal('body'), name: Text }),
  /** A form field; with `path` its value is JSON text, with `element` base64 of XML that holds this element. */
  z.strictObject({
    in: z.literal('form'),
    name: Text,
    path: Text.optional(),
    element: z
      .string()
      .regex(/^[a-z]+$/)
      .optional(),
  }),
  /** The first member of the body's object that is not one of `except`. */
  z.strictObject({ in: z.literal('body-key'), except: z.array(Text) }),
  /** The body is a JWT; its claim `name` is JSON text. */
  z.strictObject({ in: z.literal('jwt'), name: Text, path: Text }),
])
/** Location of the event type in a request, from a row of the catalog. */
export type EventTypePlace = z.infer<typeof EventTypePlace>

const EventIdField = z.strictObject({
  in: z.enum(['header', 'body']),
  name: Text,
  /** The header's value has percent-encoding, as attributes of a CloudEvent do. */
  percentEncoded: z.boolean().optional(),
})

/** Location of the sender's own id of an event. The id is the same in every attempt to send that event. */
const EventIdPlace = EventIdField.extend({
  /** A second field, within which the id is unique. The event id is then both, separated by a space. */
  within: EventIdField.optional(),
})
/** Location of the event id in a request, from a row of the catalog. */
export type EventIdPlace = z.infer<typeof EventIdPlace>

const EventId = z.strictObject({
  /** In order; the first that is present counts. The catalog shows the first of the list. */
  places: z.array(EventIdPlace).min(1),
  /** The page of the sender's public reference that documents the id, if known. */
  source: z.url().optional(),
})

/** A sender whose event ids are consecutive whole numbers: a missing number is a gap. */
const Sequence = z.strictObject({
  /** Time without an event after which the sender begins with another number. */
  restartsAfterSeconds: z.int().positive().optional(),
  /** The page of the sender's public reference that documents the sequence. */
  source: z.url(),
})
/** How the event ids of a sender follow each other, as a row of the catalog says it. */
export type Sequence = z.infer<typeof Sequence>

/** APIs in which senders list what they sent, by what reads them. */
const SentList = z.enum(['stripe', 'github'])
/** One of the APIs in which senders list what they sent. */
export type SentList = z.infer<typeof SentList>

const Place = {
  in: z.enum(['header', 'query', 'body', 'form', 'formjson', 'rawbody']),
  /** Name of the header, query parameter or form field. */
  name: Text.optional(),
  /** Into the body, or into the JSON text of the form field (`formjson`). */
  path: Text.optional(),
}

/** Location and layout of the signature. */
const SignaturePlace = z.strictObject({
  ...Place,
  /** Instead of `name`: a header with this name and a number after it, one for each active key. */
  numberedName: Text.optional(),
  /**
   * - `raw`: the value is one signature;
   * - `list`: several signatures, split at `pairSep`;
   * - `kv`: pairs; the signatures are those under one of `keys` (`*`: any key);
   * - `kvgroups`: several `kv`, split at `groupSep`, each with its own timestamp;
   * - `positional`: the first item is the timestamp, the others are signatures.
   */
  parse: z.enum(['raw', 'list', 'kv', 'kvgroups', 'positional']),
  groupSep: Text.optional(),
  pairSep: Text.optional(),
  kvSep: Text.optional(),
  keys: z.array(Text).optional(),
  timestampKey: Text.optional(),
  /** Prefix of each signature; items of a `list` without it are of another kind and are skipped. */
  prefix: Text.optional(),
  prefixOptional: z.boolean().optional(),
  /** The prefix names the digest. */
  prefixHash: z.record(Text, HashName).optional(),
  encoding: SignatureEncoding,
  /** The value that the provider sends instead of a signature when it has no secret. */
  unsignedValue: Text.optional(),
})
/** Location and layout of a signature, from a row of the catalog. */
export type SignaturePlace = z.infer<typeof SignaturePlace>

const TimestampPlace = z.strictObject({
  in: z.enum(['header', 'signature', 'body', 'form', 'formjson']),
  name: Text.optional(),
  path: Text.optional(),
  unit: z.enum(['s', 'ms', 'rfc3339', 'http-date']),
  /** As the provider documents it, before the minimum is applied. Absent: age is never checked. */
  toleranceSeconds: z.int().positive().optional(),
  /** True: a missing timestamp is no fault. */
  optional: z.boolean().optional(),
})
/** Location and unit of the time of signing, and its greatest age in seconds. */
export type TimestampPlace = z.infer<typeof TimestampPlace>

/**
 * How the stored signing secret becomes a key, after one of `stripPrefixes` was removed. `sha1`: the digest of the
 * secret; `public-key`: PEM, base64 SPKI or the raw key (`verification/keys.ts`).
 */
const KeyRule = z.strictObject({
  decode: z.enum(['utf8', 'utf8-nfkd', 'hex', 'base64', 'sha1', 'public-key']),
  stripPrefixes: z.array(Text).optional(),
})
/** How the stored signing secret becomes a key, from a row of the catalog. */
export type KeyRule = z.infer<typeof KeyRule>

export const SchemeRow = z.strictObject({
  id: Text,
  /** The name that the API shows. */
  scheme: Text,
  /** `fetched`: the key is only on the provider's servers, so nothing is checked; `reason` explains it. */
  mac: z.enum(['hmac', 'hash', 'token', 'basic', 'jwt', 'ed25519', 'ecdsa-p256', 'rsa', 'fetched']),
  reason: Text.optional(),
  hash: z.union([HashName, z.literal('from-prefix')]).optional(),
  key: KeyRule.optional(),
  /** The signed message, with `{tokens}`; see `verification/message.ts`. */
  message: Text.optional(),
  messageAlternatives: z.array(z.string()).optional(),
  signature: SignaturePlace,
  timestamp: TimestampPlace.optional(),
  idHeader: Text.optional(),
  nonceHeader: Text.optional(),
  /** The scheme applies only when this holds. */
  when: z
    .strictObject({
      secretPrefix: Text.optional(),
      signatureLength: z.int().positive().optional(),
      query: Text.optional(),
      header: z.strictObject({ name: Text, equals: Text }).optional(),
    })
    .optional(),
  /** After a mismatch the next scheme is tried. */
  onFail: z.literal('next').optional(),
  /** The query parameter whose value must be the hex SHA-256 of the body. */
  bodyDigestQuery: Text.optional(),
  /** Spellings of the public URL that the provider may have signed. */
  urlVariants: z.array(z.enum(['as-is', 'with-port', 'without-port'])).optional(),
  /** Every value found at the signature's place must match, not just one. */
  every: z.boolean().optional(),
  /** Path of a list in the JSON body. Each element is signed separately; paths of the row name its `[0]`. */
  items: z.string().optional(),
  /** JWT: the accepted algorithms, the claims that must be equal, the claim that holds the body's hex SHA-256. */
  algs: z.array(z.enum(['HS256', 'RS256'])).optional(),
  claims: z.record(Text, Text).optional(),
  bodyHashClaim: z.strictObject({ name: Text, optional: z.boolean().optional() }).optional(),
  /** The parts that a match does not prove, for the note: continues "…matches; ". */
  partial: Text.optional(),
  /** Gap that a right signature leaves, for the note: continues "…matches; ". */
  caveat: Text.optional(),
  /** The header of a better signature. The scheme does not apply when `announcedBy`, which comes with it, is there. */
  replacedBy: z.strictObject({ header: Text, announcedBy: Text }).optional(),
  /** A public secret with which the provider signs its own test messages. */
  testSecret: Text.optional(),
})
/** One signature scheme of a provider, from a row of the catalog. */
export type SchemeRow = z.infer<typeof SchemeRow>

/** A value in the answer to a handshake. A list is the concatenation of its texts. */
export type ChallengeExpression =
  | ChallengeTerm
  | {
      readonly hmac: HashName
      readonly of: ChallengeTerm
      readonly encoding: 'hex' | 'base64'
      readonly key?: 'sha1'
    }
  | { readonly digest: HashName; readonly of: readonly ChallengeTerm[]; readonly encoding: 'hex' }
  | readonly ChallengeExpression[]

const ChallengeTerm = z.union([
  z.strictObject({ from: z.enum(['query', 'header']), name: Text }),
  z.strictObject({ from: z.literal('json'), path: Text }),
  /** `captureRate`: captures that the endpoint takes in a minute. */
  z.strictObject({ from: z.enum(['handshakeToken', 'urlNoQuery', 'captureRate']) }),
  z.strictObject({ literal: Text }),
])
/** One text in a handshake: from the request, from the endpoint's settings, or fixed. */
export type ChallengeTerm = z.infer<typeof ChallengeTerm>

const ChallengeExpression: z.ZodType<ChallengeExpression> = z.lazy(() =>
  z.union([
    ChallengeTerm,
    /** Keyed with the signing secret, or with its SHA-1 (`key: "sha1"`). */
    z.strictObject({
      hmac: HashName,
      of: ChallengeTerm,
      encoding: z.enum(['hex', 'base64']),
      key: z.literal('sha1').exactOptional(),
    }),
    z.strictObject({ digest: HashName, of: z.array(ChallengeTerm), encoding: z.literal('hex') }),
    z.array(ChallengeExpression),
  ]),
)

/** Requirement for a value of the request in order to recognise a handshake. */
const Pattern = z.union([
  z.strictObject({ any: z.literal(true) }),
  z.strictObject({ oneOf: z.array(z.union([Text, z.int()])) }),
  /** A text that may be signed: 1 to 128 characters of `A-Z a-z 0-9 + / = _ . ~ -`, so never a JSON object or list. */
  z.strictObject({ challenge: z.literal(true) }),
  z.strictObject({ uuid: z.literal(true) }),
  /** Lower-case hex with at least and at most this many digits. */
  z.strictObject({ hex: z.tuple([z.int(), z.int()]) }),
  z.strictObject({ emptyList: z.literal(true) }),
  z.strictObject({ absent: z.literal(true) }),
])
/** Requirement for a value of a handshake's request, from a row of the catalog. */
export type Pattern = z.infer<typeof Pattern>

/** A challenge that a provider sends before or during delivery, and its answer. */
export const HandshakeRow = z.strictObject({
  trigger: z.strictObject({
    method: z.enum(['GET', 'HEAD', 'POST', 'OPTIONS']),
    query: z.record(Text, Pattern).optional(),
    header: z.record(Text, Pattern).optional(),
    /** Keys are paths into the body. */
    json: z.record(Text, Pattern).optional(),
  }),
  /** The sender must send the endpoint's handshake token, else the answer is `refusalStatus`. */
  token: z
    .strictObject({
      value: ChallengeTerm,
      /** False: only checked when both sides have one. */
      required: z.boolean(),
      refusalStatus: z.int(),
    })
    .optional(),
  /** The request must be verified, else the answer is `refusalStatus`. If not `required`: only when a secret is set. */
  signature: z.strictObject({ required: z.boolean(), refusalStatus: z.int() }).optional(),
  /** The signing secret as the challenge delivers it. It is stored if none is set. */
  learnSigningSecret: ChallengeTerm.optional(),
  /** Null: the endpoint's configured response. Text is sent as `text/plain`, JSON as `application/json`. */
  answer: z
    .strictObject({
      status: z.int(),
      headers: z.record(Text, ChallengeExpression).optional(),
      text: ChallengeExpression.optional(),
      json: z.record(Text, z.union([z.int(), ChallengeExpression])).optional(),
    })
    .nullable(),
})
export type HandshakeRow = z.infer<typeof HandshakeRow>

/** One row of the catalog. Slugs are stable: lower-case words joined by hyphens, at most 40 characters. */
export const ProviderRow = z.strictObject({
  slug: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    .max(40),
  name: Text,
  eventTypes: z.array(EventTypePlace),
  /** Null: the sender's requests have no id. Absent: unknown, so no id is read. */
  eventId: EventId.nullable().optional(),
  /** Absent: the ids are in no order that can be read. */
  sequence: Sequence.optional(),
  /** The API in which the sender lists what it sent; absent: none, or none that is read. */
  sentList: SentList.optional(),
  /** The header that carries the signature; null when there is none or it stands elsewhere. */
  signatureHeader: Text.nullable(),
  /** Null: the provider does not sign. `supported` false: it does, but nothing can be checked here. */
  verification: z
    .strictObject({
      supported: z.boolean(),
      family: Text,
      scheme: Text,
      secretLabel: Text.nullable(),
    })
    .nullable(),
  /** In order; the first whose signature is present and whose `when` holds decides. */
  schemes: z.array(SchemeRow),
  handshakes: z.array(HandshakeRow),
  handshakeTokenNeeded: z.boolean(),
  setupPath: Text.nullable(),
  /** Sources of the row's facts. */
  docs: z.array(z.url()),
})
/** One row of the catalog after parsing. */
export type ProviderRow = z.infer<typeof ProviderRow>
