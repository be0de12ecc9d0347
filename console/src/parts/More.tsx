import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { Button } from './Button.tsx'

/** Button that loads the next page of a list; absent at its end. */
export function More({
  of: { hasNextPage, isFetchingNextPage, fetchNextPage },
  children,
}: {
  of: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>
  children: string
}) {
  if (!hasNextPage) return null
  return (
    <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
      {children}
    </Button>
  )
}
