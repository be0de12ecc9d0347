// @trpc/server speaks of these, and leaves them to the project.
/// <reference lib="esnext.disposable" preserve="true" />
import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client'
import type { AppRouter } from './router.ts'

export type { AppRouter } from './router.ts'

/**
 * A tRPC client for one key: the same procedures, keys and limits as the REST API.
 *
 * @param url the service's base URL
 */
export function createCreelTrpc(url: string, key: string): TRPCClient<AppRouter> {
  return createTRPCClient<AppRouter>({
    links: [
      httpLink({ url: `${url.replace(/\/+$/, '')}/trpc`, headers: { Authorization: `Bearer ${key}` } }),
    ],
  })
}
