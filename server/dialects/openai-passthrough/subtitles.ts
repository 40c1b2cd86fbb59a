/** The parts of a transcript with time stamps. */
export interface Subtitles {
  /** The end of the last cue, in seconds; undefined if no time stamp can be read. */
  seconds: number | undefined
  /** The words without the time stamps. */
  speech: string
}

const stamp = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?`
const cue = new RegExp(String.raw`-->[ \t]*${stamp}(?=\s|$)`)

/**
 * Reads a transcript in SubRip or WebVTT format; undefined for plain text. Both formats are recognized by an arrow
 * (`-->`), which transcribed speech never contains.
 */
export function readSubtitles(text: string): Subtitles | undefined {
  if (!text.includes('-->') && !text.startsWith('WEBVTT')) return undefined
  const speechLines: string[] = []
  let seconds: number | undefined
  const lines = text.split(/\r\n|\n|\r/)
  for (const [at, line] of lines.entries()) {
    if (line.includes('-->')) seconds = later(seconds, endOf(line))
    else if (!isHead(line, lines[at + 1])) speechLines.push(line)
  }
  return { seconds, speech: speechLines.join('\n').trim() }
}

/** True for the first line of a WebVTT file and for a line that contains only the number of a cue. */
function isHead(line: string, next: string | undefined): boolean {
  return line.startsWith('WEBVTT') || (next?.includes('-->') === true && /^\s*\d+\s*$/.test(line))
}

function endOf(line: string): number | undefined {
  const match = cue.exec(line)
  if (!match) return undefined
  const [, hours = '0', minutes, seconds, fraction = '0'] = match
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(`${seconds}.${fraction}`)
}

function later(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.max(one, other)
}
