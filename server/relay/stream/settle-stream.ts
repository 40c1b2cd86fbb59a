import type { Usage } from '../../../contract/usage.ts'
import type { StreamMeter } from '../../dialects/neutral/dialect.ts'
import type { RelayDeps } from '../call/deps.ts'
import { measureAfter } from '../charging/charging-after.ts'
import type { Measure } from '../charging/charging-types.ts'
import { type Measured, measure, nothingCame, promptReport } from '../charging/measure.ts'
import type { Delivered } from '../charging/running-cost.ts'
import { type Ending, type OpenCall, orRelease, settle } from '../charging/settlement.ts'
import type { Broken } from './stream-reader.ts'

/** How a stream ended. */
interface StreamEnding extends Pick<Ending, 'outcome' | 'code' | 'firstByteMs'> {
  /** The gateway's own time limit for the whole call ended the stream. */
  isOverdue: boolean
  /**
   * The part of the output that has been sent; undefined = all of it. The part is recorded because the upstream's usage
   * report covers the whole output.
   */
  delivered: Delivered | undefined
}

/** The usage that was charged for a stream. `isCounted` is true if the gateway counted the tokens itself. */
export interface ChargedUsage {
  readonly usage: Usage
  readonly isCounted: boolean
}

/**
 * Charges for the delivered part of a stream, and returns the charged usage. If the usage cannot be determined,
 * releases the hold and rejects.
 */
export async function settleStream(
  deps: RelayDeps,
  open: OpenCall,
  meter: StreamMeter,
  ending: StreamEnding,
): Promise<ChargedUsage> {
  const { outcome, code, firstByteMs } = ending
  const measuring = orRelease(open, () => measured(deps, open, meter, ending))
  const measurement = measuring instanceof Promise ? await measuring : measuring
  const note = noteOf(measurement.note, leftOutNote(meter.leftOut))
  const own = withImages(measurement.measure, meter, ending)
  const { goesOn } = open.call
  await settle(deps, open, {
    measure: goesOn ? measureAfter(own, goesOn) : own,
    outcome: goesOn && outcome === 'complete' ? 'rescued' : outcome,
    code,
    firstByteMs,
    ...(note !== undefined && { note }),
  })
  return { usage: measurement.measure.usage, isCounted: measurement.measure.estimated }
}

/** The usage to charge for a stream that has broken off, before another attempt continues it. */
export async function measuredSoFar(
  deps: RelayDeps,
  { open, meter, firstByteMs }: Pick<Broken, 'open' | 'meter' | 'firstByteMs'>,
): Promise<Measure> {
  const ending = { outcome: 'interrupted', code: '', firstByteMs, isOverdue: false, delivered: undefined } as const
  const { measure: own } = await measured(deps, open, meter, ending)
  return withImages(own, meter, ending)
}

/** Adds the number of images that arrived to the measure, if this number determines the price. */
function withImages(measure: Measure, meter: StreamMeter, { outcome, isOverdue }: StreamEnding): Measure {
  const images = meter.images ?? 0
  if (outcome === 'interrupted') return { ...measure, cut: { images, byUpstream: !isOverdue } }
  // If the response does not state how many images it contains, the images in the stream are counted. If they cannot be
  // recognised in the stream, the number of requested images is charged.
  const hasSeen = images > 0 || meter.tellsImages === true
  return hasSeen && measure.images === undefined && outcome !== 'aborted' ? { ...measure, images } : measure
}

function noteOf(first: string | undefined, second: string | undefined): string | undefined {
  return first !== undefined && second !== undefined ? `${first}; ${second}` : (first ?? second)
}

function leftOutNote(count: number): string | undefined {
  if (count === 0) return undefined
  return `${count} unreadable ${count === 1 ? 'event' : 'events'} of the upstream skipped`
}

function measured(
  deps: RelayDeps,
  open: OpenCall,
  meter: StreamMeter,
  { outcome, firstByteMs, delivered }: StreamEnding,
): Measured | Promise<Measured> {
  if (delivered) {
    const { characters, media } = delivered
    const output = () => meter.output().slice(0, characters)
    return measure(deps, open, { usage: undefined, reported: promptReport(meter), isEarly: true, output, media })
  }
  if (outcome === 'interrupted' && firstByteMs === 0) return nothingCame
  return measure(deps, open, {
    usage: meter.usage,
    reported: meter.reported,
    isEarly: meter.isReportEarly,
    output: () => meter.output(),
    media: meter.media,
    ...(outcome !== 'complete' && !meter.finished && { deliveredTokens: meter.pieces }),
  })
}
