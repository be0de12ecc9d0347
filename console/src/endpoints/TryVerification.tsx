import { useCall } from '../parts/useCall.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { useAddress } from '../address.ts'
import { Button } from '../parts/Button.tsx'
import { VERDICT_WORDS, VerdictMark } from '../parts/VerdictMark.tsx'
import { creel, type Endpoint, type Inputs } from '../trpc.ts'
import { problemOf } from '../words/problem.ts'

interface Props {
  readonly endpoint: Endpoint
  /** The unsaved settings. An empty secret means the stored one. */
  readonly members: Omit<Inputs['verification']['try'], 'endpointId' | 'requestId'>
}

/**
 * Verifies a captured request with the unsaved settings: the request that the user came from, else the newest. Saves
 * nothing.
 */
export function TryVerification({ endpoint, members }: Props) {
  const [params] = useAddress()
  const newest = useQuery({
    queryKey: ['newest', endpoint.id],
    queryFn: () => creel.requests.list.query({ endpointId: endpoint.id, page: 1, pageSize: 1 }),
  })
  const asked = Number(params.get('on') ?? 0)
  const requestId = asked > 0 ? asked : newest.data?.items[0]?.id
  const tried = useCall((id: number) =>
    creel.verification.try.mutate({ endpointId: endpoint.id, requestId: id, ...members }),
  )
  if (requestId === undefined) return null
  const verification = tried.data?.verification
  return (
    <div className="try">
      <Button disabled={tried.isPending} onClick={() => tried.mutate(requestId)}>
        {tried.isPending ? 'Testing…' : `Test on #${requestId}`}
      </Button>
      <output aria-live="polite">
        {tried.error !== null && (
          <span className="bad">
            {problemOf(tried.error).items[0]?.detail ?? problemOf(tried.error).detail}
          </span>
        )}
        {verification === null && 'No signature would be checked.'}
        {verification !== null && verification !== undefined && (
          <>
            <VerdictMark verification={verification} size={15} />{' '}
            <b>{VERDICT_WORDS[verification.verdict]}.</b> {verification.note}
          </>
        )}
      </output>
      {asked > 0 && (
        <Link className="link" href={`/e/${endpoint.id}?r=${asked}`}>
          Back to request
        </Link>
      )}
    </div>
  )
}
