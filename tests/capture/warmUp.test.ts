import { expect, test } from 'bun:test'
import { captureBatches, resetCaptureMetrics, WARM_UP_ID, warmUpCaptures } from '@creel/core/capture'
import { warmUp } from '@creel/gateway'
import { startService } from '../support/service.ts'

const plainBatches = async () =>
  (await captureBatches.get()).values.map(({ labels, value }) => [labels.way, value] as const)

test('the warm-up takes the whole short way of captures, and leaves nothing behind', async () => {
  const service = await startService({ parts: ['gateway'] })
  const { services } = service.running
  const captures = warmUpCaptures(services)
  const settings = await captures.findSettings(WARM_UP_ID)
  if (settings === undefined) throw new Error('There is no endpoint for the warm-up.')
  resetCaptureMetrics()
  const results = await Promise.all(
    Array.from({ length: 20 }, () =>
      captures.capture(
        settings,
        {
          endpointId: WARM_UP_ID,
          path: '/',
          queryString: null,
          receivedAt: new Date(),
          method: 'POST',
          headers: [['Content-Type', 'application/json']],
          contentType: 'application/json',
          body: Buffer.from('{"type":"x"}'),
          sizeBytes: 12,
          bodyTruncated: false,
          ip: '192.0.2.1',
        },
        { captureId: WARM_UP_ID },
      ),
    ),
  )
  expect(new Set(results.map(({ state }) => state))).toEqual(new Set(['stored']))
  await captures.close()
  const byWay = new Map(await plainBatches())
  expect(byWay.get('plain')).toBeGreaterThan(0)
  expect(byWay.get('general')).toBe(0)

  await warmUp(services)
  expect(await plainBatches()).toEqual([
    ['plain', 0],
    ['evicting', 0],
    ['general', 0],
  ])
  expect(await service.db.selectFrom('requests').select('id').execute()).toEqual([])
})
