export { type OpenStream, openStream } from './openStream.ts'
