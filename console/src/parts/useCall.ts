import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'

/**
 * A call that changes something.
 *
 * @param stale beginnings of the keys of the queries that it may change; they are read again, also after a refusal
 * @param onSuccess called before that
 */
export function useCall<Answer, Input = void>(
  call: (input: Input) => Promise<Answer>,
  stale: readonly QueryKey[] = [],
  onSuccess: (answer: Answer, input: Input) => unknown = () => undefined,
) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: call,
    onSuccess,
    onSettled: () => Promise.all(stale.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
}
