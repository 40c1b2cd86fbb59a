import { mediaEndpoint } from './endpoint.ts'

export const docsApi = {
  document: mediaEndpoint({
    method: 'GET',
    path: '/api/openapi.json',
    access: 'public',
    media: 'application/json',
    summary: 'Get this API as an OpenAPI 3.1 document',
  }),
  page: mediaEndpoint({
    method: 'GET',
    path: '/api/docs',
    access: 'public',
    media: 'text/html',
    summary: 'Get this API as a page for people to read',
  }),
}
