import type { ToolCounter } from '../../dialects/metering/tool-counts.ts'
import type { StreamDecoder, StreamMeter } from '../../dialects/neutral/dialect.ts'

/** The meter, which also counts calls of hosted tools in its events if any is enabled. */
export function countingMeter<Meter extends StreamMeter>(meter: Meter, tools: ToolCounter | undefined): Meter {
  if (!tools) return meter
  const feed = meter.feed.bind(meter)
  meter.feed = (data) => {
    tools.read(data)
    return feed(data)
  }
  return meter
}

/** The same for a decoder. */
export function countingDecoder(decoder: StreamDecoder, tools: ToolCounter | undefined): StreamDecoder {
  if (!tools) return decoder
  return {
    push(data) {
      tools.read(data)
      return decoder.push(data)
    },
    finish: () => decoder.finish(),
  }
}
