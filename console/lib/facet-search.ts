import type { ValueDimension } from '../../contract/api/usage-values.ts'
import { texts } from './url-state.ts'

/** The names of facets in the URL. Groups are called `in`, because on the usage page `group` is the grouping. */
export type FacetName = Exclude<ValueDimension, 'group'> | 'in'

/**
 * The filters of logs and usage as stored in the URL: values that a row must have, and values that it must not have.
 */
export type FacetSearch = { [Name in FacetName | `not_${FacetName}`]?: string | undefined }

/** Reads the facets of a URL. */
export const parseFacets = texts(
  'model',
  'token',
  'project',
  'user',
  'channel',
  'in',
  'not_model',
  'not_token',
  'not_project',
  'not_user',
  'not_channel',
  'not_in',
)
