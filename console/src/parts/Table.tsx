import { type QueryKey, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from './Button.tsx'

interface Props {
  readonly heads: readonly string[]
  /** The one of them for screen readers only. */
  readonly hidden?: string
  /** `changes` compares values, and wraps them. */
  readonly look?: 'table' | 'changes'
  readonly children: ReactNode
}

/** A table that scrolls sideways where it is too wide. */
export function Table({ heads, hidden, look = 'table', children }: Props) {
  return (
    <div className="table-frame">
      <table className={look}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                <span className={head === hidden ? 'sr-only' : undefined}>{head}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly page: number
  readonly totalCount: number
  readonly totalPages: number
}

/**
 * A list that is read page by page.
 *
 * @param refreshMs how often it is read again; only while it has one page, so that rows do not move further down
 */
export function usePages<Item extends { readonly id: unknown }>(
  queryKey: QueryKey,
  pageSize: number,
  read: (page: { page: number; pageSize: number }) => Promise<PageOf<Item>>,
  refreshMs: number | false = false,
) {
  const pages = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read({ page: pageParam, pageSize }),
    initialPageParam: 1,
    getNextPageParam: ({ page, totalPages }) => (page < totalPages ? page + 1 : undefined),
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : refreshMs),
  })
  // A new item moves others to the next page, which has them once more.
  const items = new Map(pages.data?.pages.flatMap((page) => page.items.map((item) => [item.id, item])))
  return { pages, items: [...items.values()], totalCount: pages.data?.pages[0]?.totalCount ?? 0 }
}

interface MoreProps {
  readonly of: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>
  readonly children: string
}

/** Button that loads the next page of a list; absent at its end. */
export function More({ of: { hasNextPage, isFetchingNextPage, fetchNextPage }, children }: MoreProps) {
  if (!hasNextPage) return null
  return (
    <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      {children}
    </Button>
  )
}
