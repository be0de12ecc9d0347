import { useMutation, useQueryClient } from '@tanstack/react-query'
import { toast } from '../parts/toasts.ts'
import { creel, type Inputs } from '../trpc.ts'

type Members = Omit<Inputs['endpoints']['update'], 'endpointId'>

/**
 * Changes members of an endpoint, and refreshes every query of it.
 *
 * @param call another call that answers the endpoint; default: the update of the members
 */
export function useEndpointChange(
  endpointId: string,
  onSaved: () => void,
  call = (members: Members) => creel.endpoints.update.mutate({ endpointId, ...members }),
) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: call,
    onSuccess: async (saved) => {
      queries.setQueryData(['endpoint', endpointId], saved)
      await queries.invalidateQueries({ queryKey: ['endpoints'] })
      toast('Saved')
      onSaved()
    },
  })
}
