import { expect, test } from 'bun:test'
import { Histogram, type Metric, Registry } from 'prom-client'
import { ModeHistogram } from './mode-histogram.ts'

test('ModeHistogram reports the same metrics as the histogram of prom-client', async () => {
  const bounds = [0.05, 0.1, 1, 300]
  const [own, library] = [new Registry(), new Registry()]
  const ours = new ModeHistogram('call_seconds', 'Duration "of" calls', bounds)
  own.registerMetric(ours as unknown as Metric)
  const theirs = new Histogram({
    name: 'call_seconds',
    help: 'Duration "of" calls',
    labelNames: ['mode'],
    buckets: bounds,
    registers: [library],
  })
  expect(await own.metrics()).toBe(await library.metrics())
  for (const mode of ['chat', 'embeddings', 'chat']) {
    for (const value of [0, 0.05, 0.050001, 0.3, 1, 299.5, 300, 301, 1e9]) {
      ours.observe(mode, value)
      theirs.observe({ mode }, value)
    }
  }
  expect(await own.metrics()).toBe(await library.metrics())
  expect(await own.metrics()).toContain('call_seconds_bucket{le="+Inf",mode="chat"} 18')
})
