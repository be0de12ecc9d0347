export {
  askListeners,
  countListeners,
  deleteOldReplays,
  findAskedReplays,
  joinListeners,
  markReported,
  newReplaysFrom,
} from './queries.ts'
