import { refusals } from '../../contract/refusals.ts'
import { codedTexts } from '../lib/coded-texts.ts'

/** The code of a refusal with this text; undefined if the contract does not have the text. */
export const refusalOf = codedTexts(refusals)
