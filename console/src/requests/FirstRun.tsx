import { Link } from 'wouter'
import { CommandLine } from '../parts/CommandLine.tsx'
import type { Endpoint } from '../trpc.ts'

/** Nothing was captured yet: what to do, with a command that does it. */
export function FirstRun({ endpoint }: { endpoint: Endpoint }) {
  return (
    <div className="nothing">
      <span className="ripples" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      <h2>Waiting for the first webhook</h2>
      <p>Give this URL to a sender, or try it from a shell. What arrives opens here at once.</p>
      <CommandLine line={`curl ${endpoint.url}/orders --json '{"hello":"world"}'`} />
      <p className="acts">
        <Link href={`/e/${endpoint.id}/settings#provider`} className="button">
          Who sends? Verify signatures…
        </Link>
        <Link href={`/e/${endpoint.id}/actions/new`} className="button">
          Forward it to…
        </Link>
      </p>
    </div>
  )
}
