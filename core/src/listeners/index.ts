export {
  askListeners,
  countListeners,
  findAskedReplays,
  joinListeners,
  markReported,
  newReplaysFrom,
} from './queries.ts'
