export { type OpenStream, openStream, STREAMS_MAX } from './openStream.ts'
