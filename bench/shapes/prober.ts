/**
 * A worker that polls a health endpoint every 20 ms. On request, it returns the duration of the slowest response since
 * the previous request, in milliseconds.
 */
declare const self: Worker

const everyMs = 20
let slowestMs = 0

self.onmessage = ({ data }: MessageEvent<string>) => {
  if (data === 'tell') {
    self.postMessage(slowestMs)
    slowestMs = 0
  } else void probe(data)
}

async function probe(url: string): Promise<never> {
  for (;;) {
    const from = performance.now()
    await fetch(url).then((response) => response.text())
    slowestMs = Math.max(slowestMs, performance.now() - from)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
