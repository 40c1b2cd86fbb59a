import * as z from 'zod/mini'
import { createRedemptionBody, redemptionCount } from '../../../contract/api/redemption.ts'

/** What the form of an existing code holds. */
export interface RedemptionValues {
  name: string
  quota: number
}

/** What the form for new codes holds. */
export interface NewCodes extends RedemptionValues {
  count: number
}

/** New codes start with these. */
export const newCodes: NewCodes = { name: '', quota: 100_000, count: 1 }

/** The rules of the contract; a number that was taken out of its box is not taken for the one that stood there. */
export const newCodesSchema = z.extend(createRedemptionBody, { count: redemptionCount })
export const redemptionSchema = z.pick(createRedemptionBody, { name: true, quota: true })
