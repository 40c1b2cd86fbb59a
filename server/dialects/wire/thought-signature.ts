import { isObject, tryParse } from '../../lib/json.ts'
import { JsonScan } from '../../lib/json-scan.ts'
import type { DialectName, Part, ReasoningPart, Seal, TextPart } from '../neutral/conversation.ts'

/**
 * The first characters of every envelope, in base64. An envelope contains the signature of a service that uses another
 * dialect; see `writeSeal`.
 */
const mark = Buffer.from('{"tollgate":').toString('base64')

const names: readonly DialectName[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']

/**
 * The part to which another service's signature belongs: visible reasoning, hidden reasoning, the next part, or the
 * previous part (`before`). `next` and `before` are used if the dialect has no signature field for the part itself.
 */
type Owner = 'thought' | 'hidden' | 'next' | 'before'

const owners: readonly Owner[] = ['thought', 'hidden', 'next', 'before']

/** A signature that belongs to the next or previous part but has not been attached to it. */
export interface LooseSeal {
  readonly type: 'seal'
  readonly seal: Seal
  readonly isBefore?: true
}

/**
 * A signature as text for an opaque field of a dialect. The signature of a service that uses another dialect is put
 * into an envelope. The caller sends the envelope back without interpreting it, so the signature reaches the service
 * unchanged.
 */
export function writeSeal(seal: Seal, dialect: DialectName, owner: Owner = 'thought'): string {
  if (seal.from === dialect) return seal.value
  return Buffer.from(JSON.stringify({ tollgate: 1, from: seal.from, of: owner, value: seal.value })).toString('base64')
}

function open(text: string, dialect: DialectName): { seal: Seal; owner: Owner | undefined } {
  const envelope = text.startsWith(mark) ? parsedEnvelope(Buffer.from(text, 'base64')) : undefined
  if (isObject(envelope)) {
    const from = names.find((name) => name === envelope['from'])
    const owner = owners.find((each) => each === envelope['of']) ?? 'thought'
    if (from && typeof envelope['value'] === 'string') return { seal: { from, value: envelope['value'] }, owner }
  }
  return { seal: { from: dialect, value: text }, owner: undefined }
}

/** The signature in an opaque field. A signature without an envelope was made by a service of this dialect. */
export function readSeal(text: string, dialect: DialectName): Seal {
  return open(text, dialect).seal
}

/**
 * The value of an opaque field for a service that uses `dialect`. Undefined if the state comes from a service that uses
 * another dialect, if the field is empty, or if the envelope was truncated.
 */
export function ownState(text: unknown, dialect: DialectName): string | undefined {
  if (typeof text !== 'string' || text === '') return undefined
  const { seal, owner } = open(text, dialect)
  const isEnvelope = owner !== undefined
  if (seal.from !== dialect || (!isEnvelope && text.startsWith(mark))) return undefined
  return seal.value === '' ? undefined : seal.value
}

/**
 * Reads the opaque field of a reasoning part. Returns the part with its signature or, if the signature belongs to
 * another part, only the signature.
 */
export function readThought(thought: ReasoningPart, opaque: string, dialect: DialectName): ReasoningPart | LooseSeal {
  // Some dialects require an empty signature for a reasoning part that has none.
  if (opaque === '') return thought
  const { seal, owner } = open(opaque, dialect)
  if (owner === 'next' || owner === 'before')
    return { type: 'seal', seal, ...(owner === 'before' && { isBefore: true }) }
  // An envelope with an empty signature shows only that another service produced the reasoning.
  if (seal.value === '') return thought
  const { redacted, ...rest } = thought
  const isHidden = owner === undefined ? redacted : owner === 'hidden'
  return { ...rest, ...(isHidden && { redacted: true }), seal }
}

/** Moves separate signatures into the parts to which they belong. */
export function attachSeals(parts: readonly (Part | LooseSeal)[]): Part[] {
  const out: Part[] = []
  let waiting: Seal | undefined
  const keep = () => {
    if (waiting) out.push({ type: 'text', text: '', seal: waiting } satisfies TextPart)
    waiting = undefined
  }
  for (const part of parts) {
    if (part.type === 'seal' && part.isBefore) {
      const last = out.at(-1)
      if (last && canBear(last) && last.seal === undefined) out.splice(-1, 1, { ...last, seal: part.seal })
      else out.push({ type: 'text', text: '', seal: part.seal } satisfies TextPart)
    } else if (part.type === 'seal') {
      keep()
      waiting = part.seal
    } else if (waiting && canBear(part)) {
      out.push({ ...part, seal: waiting })
      waiting = undefined
    } else {
      out.push(part)
    }
  }
  keep()
  return out
}

/**
 * True for a part to which a separate signature can be attached. The signature is separate in dialects that have no
 * field for it in such a part.
 */
function canBear(part: Part): part is Part & { type: 'text' | 'tool-call' | 'media' } {
  return part.type === 'text' || part.type === 'tool-call' || part.type === 'media'
}

/**
 * The maximum number of values in an envelope. The gateway's envelopes have only a few, but a caller may send a forged
 * envelope with any number.
 */
const mostValues = 20

function parsedEnvelope(bytes: Buffer): unknown {
  const scan = new JsonScan(bytes)
  scan.step(bytes.length)
  return scan.values <= mostValues ? tryParse(bytes.toString('utf8')) : undefined
}
