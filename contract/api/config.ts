import * as z from 'zod/mini'
import { configSections } from '../config-file.ts'
import { endpoint, mediaEndpoint } from './endpoint.ts'

export const configChangeSchema = z.object({
  op: z.enum(['add', 'change', 'remove']).check(z.describe('The kind of change.')),
  section: z.enum(configSections).check(z.describe('Section of the file.')),
  name: z.string().check(z.describe('Name of the entry in the section.')),
  fields: z
    .array(
      z.object({
        field: z.string().check(z.describe('Name of the field in the file.')),
        before: z
          .string()
          .check(z.describe('The old value as shortened JSON; empty if there was none. Secrets are masked.')),
        after: z
          .string()
          .check(z.describe('The new value as shortened JSON; empty if there is none. Secrets are masked.')),
      }),
    )
    .check(z.describe('The fields that change; empty for an entry that is removed.')),
})

export type ConfigChange = z.output<typeof configChangeSchema>

export const configPlanSchema = z.object({
  changes: z.array(configChangeSchema).check(z.describe('The changes, in the order in which they are made.')),
  unlisted: z
    .array(z.object({ section: z.enum(configSections), name: z.string() }))
    .check(z.describe('Entries of the installation that the file does not list. They stay, unless `prune` is set.')),
  applied: z.boolean().check(z.describe('False if nothing was changed: a dry run, or no difference.')),
})

export type ConfigPlan = z.output<typeof configPlanSchema>

const flag = (description: string) => z._default(z.enum(['true', 'false']).check(z.describe(description)), 'false')

export const configApi = {
  export: mediaEndpoint({
    method: 'GET',
    path: '/api/config',
    access: 'root',
    media: 'application/yaml',
    summary: 'Export the configuration as YAML, without secrets',
    description:
      'The file contains options, groups, prices, channels, virtual models, alert destinations and alert rules, in the form that `PUT /api/config` and the command `apply` read. It contains no secrets. When the file is applied again, the stored secrets stay as they are.',
  }),
  apply: endpoint({
    method: 'PUT',
    path: '/api/config',
    access: 'root',
    textBody: ['application/yaml', 'application/json', 'application/x-yaml', 'text/yaml'],
    body: z.object({ text: z.string() }),
    query: z.object({
      dry_run: flag('true: only return what would change.'),
      prune: flag('true: also remove the entries that the file does not list, in the sections that the file has.'),
    }),
    data: configPlanSchema,
    summary: 'Apply a configuration file; returns what was changed',
    description:
      'All changes are made in one transaction: either all of them or none. The schema is at `/api/config/schema.json`. With this call, the file cannot refer to environment variables or to files of the server.',
  }),
  schema: endpoint({
    method: 'GET',
    path: '/api/config/schema.json',
    access: 'public',
    envelope: 'bare',
    data: z.record(z.string(), z.unknown()),
    summary: 'Get the JSON Schema of configuration files, for editors',
  }),
}
