import { type RefusalCode, refusals } from '../../contract/refusals.ts'

type Texts = { readonly [C in RefusalCode as `refusal.${C}`]: (typeof refusals)[C] }

/** The server's refusals. The English texts are those that the server sends. */
export const refusalEn = Object.fromEntries(
  Object.entries(refusals).map(([code, sentence]) => [`refusal.${code}`, sentence]),
) as Texts
