import type { WholeRequest } from 'creel-client'
import { ClientError } from '../clientError.ts'

/**
 * The request, if what is shown and sent of it has the types of a Creel's: the address may be another program's.
 *
 * @throws ClientError otherwise
 */
export function readable(request: WholeRequest): WholeRequest {
  const { receivedAt, method, path, queryString, label, sizeBytes, rawHeaders, body } = request
  const isRight =
    [receivedAt, method, path].every(isText) &&
    [queryString, label ?? null, body].every((value) => value === null || isText(value)) &&
    typeof sizeBytes === 'number' &&
    Array.isArray(rawHeaders) &&
    rawHeaders.every((field) => isText(field?.name) && isText(field?.value))
  if (isRight) return request
  throw new ClientError('The service sent a request that this version cannot read.', [
    'Check that the address is a Creel service, and compare the versions.',
  ])
}

const isText = (value: unknown) => typeof value === 'string'
