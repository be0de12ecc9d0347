import createFetchClient, { type Client } from 'openapi-fetch'
import type { paths } from './schema.d.ts'

/** Calls the API with every path, parameter, body and answer typed by its description. */
export type ApiClient = Client<paths>

/** A client for one key, made as anybody would make one: openapi-typescript's types, openapi-fetch's calls. */
export function createApiClient(baseUrl: string, key: string): ApiClient {
  return createFetchClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } })
}
