export { presentedSession } from './cookie.ts'
export { consoleFiles } from './files.ts'
export { isJson, isOwnPage } from './ownPage.ts'
export { answerSession, signInOf } from './session.ts'
