export { countListeners, joinListeners } from './presence.ts'
export { askListeners, findReplays, markReported, newReplaysFrom } from './queries.ts'
