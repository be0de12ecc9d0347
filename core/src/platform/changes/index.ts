export {
  announceEndpointChange,
  changesOf,
  type EndpointChanges,
  type RunningEndpointChanges,
  startEndpointChanges,
} from './listen.ts'
