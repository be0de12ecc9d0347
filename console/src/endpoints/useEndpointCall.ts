import { useQueryClient } from '@tanstack/react-query'
import { toast } from '../parts/Toasts.tsx'
import { useCall } from '../parts/useForm.ts'
import type { Endpoint } from '../trpc.ts'

/** A call that changes an endpoint and answers it; every query of it is refreshed. */
export function useEndpointCall<Input = void>(
  endpointId: string,
  call: (input: Input) => Promise<Endpoint>,
  onSaved: () => void = () => {},
) {
  const queries = useQueryClient()
  return useCall(call, [['endpoints']], (saved) => {
    queries.setQueryData(['endpoint', endpointId], saved)
    toast('Saved')
    onSaved()
  })
}
