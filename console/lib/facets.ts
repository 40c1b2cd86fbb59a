import type { FacetName, FacetSearch } from './facet-search.ts'
import { severalOf } from './several.ts'

export const facetNames = ['model', 'token', 'project', 'user', 'channel', 'in'] as const satisfies readonly FacetName[]

/** The facets on servers that accept only one value for each. Such servers have no facets for projects and groups. */
export const classicNames = ['model', 'token', 'user', 'channel'] as const satisfies readonly FacetName[]

/** A search without facets. */
export const noFacets = {
  model: undefined,
  token: undefined,
  project: undefined,
  user: undefined,
  channel: undefined,
  in: undefined,
  not_model: undefined,
  not_token: undefined,
  not_project: undefined,
  not_user: undefined,
  not_channel: undefined,
  not_in: undefined,
} as const satisfies FacetSearch

/** True for a valid channel id; channel ids start at 1. */
export function isChannelId(text: string | undefined): text is string {
  return /^[1-9]\d{0,14}$/.test(text ?? '')
}

/** The values of one facet. For channels, invalid ids are omitted. */
export function facetValues(search: FacetSearch, name: keyof FacetSearch): string[] {
  const values = severalOf(search[name])
  return name === 'channel' || name === 'not_channel' ? values.filter(isChannelId) : values
}

/**
 * Whether a facet or a grouping is available. Only administrators can filter by user, channel or group, or have usage
 * grouped by user or channel.
 */
export function isFor(admin: boolean, name: string): boolean {
  return admin || (name !== 'user' && name !== 'channel' && name !== 'in')
}

/** The facets that are set, for a link to another page. */
export function facetsOf(search: FacetSearch, admin: boolean): FacetSearch {
  const names = facetNames.filter((name) => isFor(admin, name)).flatMap((name) => [name, `not_${name}`] as const)
  return Object.fromEntries(
    names.flatMap((name) => {
      const values = facetValues(search, name)
      return values.length === 0 ? [] : [[name, values.join('\n')]]
    }),
  )
}

/** The facets in the server's format; unset ones are not sent. */
export function facetQuery(search: FacetSearch, admin: boolean) {
  const values = (name: keyof FacetSearch) => {
    const found = facetValues(search, name)
    return found.length === 0 ? undefined : found
  }
  return {
    model_name: values('model'),
    not_model_name: values('not_model'),
    token_name: values('token'),
    not_token_name: values('not_token'),
    project: values('project'),
    not_project: values('not_project'),
    ...(admin && {
      username: values('user'),
      not_username: values('not_user'),
      channel: values('channel'),
      not_channel: values('not_channel'),
      group: values('in'),
      not_group: values('not_in'),
    }),
  }
}
