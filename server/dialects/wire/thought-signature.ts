import { isObject, tryParse } from '../../lib/json.ts'
import { JsonScan } from '../../lib/json-scan.ts'
import type { DialectName, Part, ReasoningPart, Seal, TextPart } from '../neutral/conversation.ts'

/** Base64 of the first characters of an envelope, which are the same for every envelope. */
const mark = Buffer.from('{"tollgate":').toString('base64')

const names: readonly DialectName[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']

/**
 * What another service's signature belongs to: a visible thought, a hidden thought, or the next or previous part. The
 * last two are used if the dialect has no field for a signature in that part.
 */
type Owner = 'thought' | 'hidden' | 'next' | 'before'

const owners: readonly Owner[] = ['thought', 'hidden', 'next', 'before']

/** A signature that is still to be attached to the next or the previous part. */
export interface LooseSeal {
  readonly type: 'seal'
  readonly seal: Seal
  readonly isBefore?: true
}

/**
 * A signature as text for a dialect's opaque field. Another service's signature is put into an envelope. A caller who
 * knows nothing of that service sends the envelope back, so the signature reaches the service unchanged.
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

/** The signature in an opaque field. A signature without an envelope is the dialect's own. */
export function readSeal(text: string, dialect: DialectName): Seal {
  return open(text, dialect).seal
}

/**
 * The value of an opaque field for the service that itself uses `dialect`. Undefined if another service created the
 * state, if the field is empty, or if the envelope was truncated.
 */
export function ownState(text: unknown, dialect: DialectName): string | undefined {
  if (typeof text !== 'string' || text === '') return undefined
  const { seal, owner } = open(text, dialect)
  const isEnvelope = owner !== undefined
  if (seal.from !== dialect || (!isEnvelope && text.startsWith(mark))) return undefined
  return seal.value === '' ? undefined : seal.value
}

/** A thought and its opaque field, either as a part or as a signature that belongs to another part. */
export function readThought(thought: ReasoningPart, opaque: string, dialect: DialectName): ReasoningPart | LooseSeal {
  // Some dialects require an empty signature for a thought that has none.
  if (opaque === '') return thought
  const { seal, owner } = open(opaque, dialect)
  if (owner === 'next' || owner === 'before')
    return { type: 'seal', seal, ...(owner === 'before' && { isBefore: true }) }
  // An envelope with an empty signature only shows that another service produced the thought.
  if (seal.value === '') return thought
  const { redacted, ...rest } = thought
  const isHidden = owner === undefined ? redacted : owner === 'hidden'
  return { ...rest, ...(isHidden && { redacted: true }), seal }
}

/** Puts separate signatures into the parts they belong to. */
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

/** True for parts whose signature is written separately in dialects that have no field for it. */
function canBear(part: Part): part is Part & { type: 'text' | 'tool-call' | 'media' } {
  return part.type === 'text' || part.type === 'tool-call' || part.type === 'media'
}

/** An envelope has only a few values, but a caller may put anything into one. */
const mostValues = 20

function parsedEnvelope(bytes: Buffer): unknown {
  const scan = new JsonScan(bytes)
  scan.step(bytes.length)
  return scan.values <= mostValues ? tryParse(bytes.toString('utf8')) : undefined
}
