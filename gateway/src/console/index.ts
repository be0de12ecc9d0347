export { consoleFiles } from './files.ts'
export { isJson, isOwnPage } from './ownPage.ts'
export { answerSession, presentedSession, signInOf } from './session.ts'
