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
  /** How much of the output has been sent, if not all of it. The upstream's usage covers all of the output. */
  delivered: Delivered | undefined
}

/** The usage that a stream was charged for, and whether it was counted here. */
export interface ChargedUsage {
  readonly usage: Usage
  readonly isCounted: boolean
}

/**
 * Charges for what a stream has delivered, and returns the charged usage. Rejects if the usage cannot be determined, in
 * which case the quota has been given back.
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

/** What a stream that broke off has used so far, as it is charged, and its note for the log. */
export async function measuredSoFar(
  deps: RelayDeps,
  { open, meter, firstByteMs }: Pick<Broken, 'open' | 'meter' | 'firstByteMs'>,
): Promise<Measure> {
  const ending = { outcome: 'interrupted', code: '', firstByteMs, isOverdue: false, delivered: undefined } as const
  const { measure: own } = await measured(deps, open, meter, ending)
  return withImages(own, meter, ending)
}

/** The measure, with the number of images seen if that number decides the price. */
function withImages(measure: Measure, meter: StreamMeter, { outcome, isOverdue }: StreamEnding): Measure {
  const images = meter.images ?? 0
  if (outcome === 'interrupted') return { ...measure, cut: { images, byUpstream: !isOverdue } }
  // If the response does not state how many images it contains, the number seen is used. If the images cannot be seen,
  // the price is that of the number requested.
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
