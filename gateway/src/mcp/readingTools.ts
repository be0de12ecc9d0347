import { z } from 'zod'
import { partInput, readCapture, withBodyPart } from './bodyParts.ts'
import { routeNamed } from './mcpApi.ts'
import { argumentOf, argumentsOf } from './routeTools.ts'
import { type Tool, tool } from './tool.ts'

const [readsRequest, readsAttempt] = [routeNamed('requests.get'), routeNamed('deliveries.get')]
const captureArguments = {
  endpointId: argumentOf(readsRequest, 'endpointId'),
  requestId: argumentOf(readsRequest, 'requestId'),
}
const attemptArguments = {
  endpointId: argumentOf(readsAttempt, 'endpointId'),
  attemptId: argumentOf(readsAttempt, 'attemptId'),
}

/** Tools that add something to a route: parts of long bodies, or the answers of several calls. */
export const READING_TOOLS: readonly Tool[] = [
  // Adds parts of the body to `requests.get`.
  tool({
    name: 'read_request',
    title: 'Read a captured request',
    description:
      'One captured webhook: headers, body and deliveries. A long body comes in parts: call again with nextBodyOffset. A compressed body comes decoded, or as null if it cannot be decoded.',
    effect: 'reads',
    input: z.object({ ...captureArguments, ...partInput }),
    isMasked: true,
    run: (api, { endpointId, requestId, bodyOffset, maxBodyBytes }, masking) =>
      readCapture(api, { endpointId, requestId }, { bodyOffset, maxBodyBytes }, masking),
  }),
  // Adds an answer in words to `requests.await` when nothing came, and cuts the body.
  tool({
    name: 'await_request',
    title: 'Wait for a request',
    description:
      'Waits until a matching webhook arrives; one that is stored already counts unless afterId says otherwise. A long body is cut: read_request returns the rest.',
    effect: 'reads',
    input: z.object(argumentsOf(routeNamed('requests.await'))),
    isMasked: true,
    run: async (api, input, masking) => {
      const request = await api.call('requests.await', input)
      if (request === undefined) return { arrived: false, note: 'Nothing matched in time.' }
      return await withBodyPart(request, {}, masking)
    },
  }),
  // Joins the verdict of a request, the settings of its endpoint and the catalog's entry of the provider.
  tool({
    name: 'explain_verdict',
    title: 'Explain a signature verdict',
    description:
      'Why a captured webhook is verified, failed, unsigned or unverifiable, and how its endpoint checks signatures.',
    effect: 'reads',
    input: z.object(captureArguments),
    run: async (api, { endpointId, requestId }) => {
      const request = await api.call('requests.get', { endpointId, requestId, bodyBytesMax: 0 })
      const { provider, verification: settings } = await api.call('endpoints.get', { endpointId })
      const entry =
        provider === null
          ? null
          : (await api.call('providers.list')).items.find(({ slug }) => slug === provider)
      return { verification: request.verification, settings, provider, providerEntry: entry ?? null }
    },
  }),
  // Adds parts of the bodies to `deliveries.get`.
  tool({
    name: 'read_delivery',
    title: 'Read a delivery attempt',
    description:
      'One attempt with what was sent and what was received. Long bodies come in parts: ask again with nextBodyOffset.',
    effect: 'reads',
    input: z.object({
      ...attemptArguments,
      ...partInput,
    }),
    isMasked: true,
    run: async (api, { endpointId, attemptId, bodyOffset, maxBodyBytes }, masking) => {
      const { sent, received, ...attempt } = await api.call('deliveries.get', { endpointId, attemptId })
      const wanted = { bodyOffset, maxBodyBytes }
      const part = (message: object | null) =>
        message === null ? null : withBodyPart(message, wanted, masking)
      const shown = { sent: await part(sent), received: await part(received) }
      return { ...Object(await masking.value(attempt)), ...shown }
    },
  }),
]
