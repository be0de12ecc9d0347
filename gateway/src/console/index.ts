export { consoleFiles } from './files.ts'
export { answerSession, isJson, isOwnPage, presentedSession, signInOf } from './session.ts'
