/**
 * A worker that polls a health endpoint, 20 ms apart. When asked, it returns the duration of the slowest response since
 * the last time, in milliseconds.
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
