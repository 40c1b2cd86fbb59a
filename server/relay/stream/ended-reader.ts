import type { UpstreamReader } from '../upstream/upstream-reader.ts'

/** The methods of a stream's reader that are needed to pass the stream on. */
export type PieceReader = Pick<UpstreamReader, 'ask' | 'next' | 'cancel' | 'drain' | 'hurry'>

/** The reader of a stream that has already been read to its end. */
export class EndedReader implements PieceReader {
  ask(answer: (piece: { kind: 'end' }) => void): void {
    answer({ kind: 'end' })
  }

  async next(): Promise<{ kind: 'end' }> {
    return { kind: 'end' }
  }

  cancel(): void {}
  drain(): void {}
  hurry(): void {}
}
