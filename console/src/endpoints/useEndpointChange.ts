import { useMutation, useQueryClient } from '@tanstack/react-query'
import { toast } from '../parts/toasts.ts'
import { creel, type Inputs } from '../trpc.ts'

/** Changes members of an endpoint, and refreshes every query of it. */
export function useEndpointChange(endpointId: string, onSaved: () => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (members: Omit<Inputs['endpoints']['update'], 'endpointId'>) =>
      creel.endpoints.update.mutate({ endpointId, ...members }),
    onSuccess: async (saved) => {
      queries.setQueryData(['endpoint', endpointId], saved)
      await queries.invalidateQueries({ queryKey: ['endpoints'] })
      toast('Saved')
      onSaved()
    },
  })
}
