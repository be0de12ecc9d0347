export {
  askListeners,
  countListeners,
  findReplays,
  joinListeners,
  markReported,
  newReplaysFrom,
} from './queries.ts'
