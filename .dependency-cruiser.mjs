// Which modules may import which. Each rule states its reason, which is printed when the rule is broken.
import {
  anyPackage,
  bunModule,
  cross,
  dialectRooms,
  ground,
  heads,
  importParts,
  only,
  owner,
  packages,
  pathPatterns,
  roomRules,
  rule,
  tests,
} from './tools/import-rules.mjs'

export default {
  forbidden: [
    rule(
      'no-cycles',
      'Files that import each other cannot be read, tested or moved apart.',
      { pathNot: tests },
      { circular: true },
    ),
    rule(
      'no-cycles-in-tests',
      'Files that load each other fail or work by the order in which they are loaded.',
      { path: tests },
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    rule(
      'no-orphans',
      'A file that imports nothing and that nothing imports is forgotten.',
      {
        orphan: true,
        pathNot: [
          tests,
          '\\.d\\.ts$',
          '(^|/)\\.?[^/]+\\.config\\.[^/]+$',
          '^server/main\\.ts$',
          '^console/(?:theme|parts|frame)-boot\\.js$',
        ],
      },
      {},
    ),
    rule(
      'no-unresolvable',
      'The imported file or package does not exist.',
      // Scripts of the client tests, whose packages are installed only during a run of these tests.
      { pathNot: '^test/clients/scripts/' },
      { couldNotResolve: true },
    ),
    rule(
      'no-tests-from-production',
      'What ships must run without the tests, the benchmarks and the tools.',
      { pathNot: `^\\.dependency-cruiser\\.mjs$|${tests}` },
      { path: tests },
    ),
    rule(
      'server-runtime-deps',
      'The running server has only what package.json lists under "dependencies".',
      { path: '^(?:server|contract)/', pathNot: tests },
      {
        path: anyPackage,
        pathNot: '(?:^|/)node_modules/@types/',
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional', 'npm-peer'],
        // Type-only imports are allowed: the compiler reads types, and the running server does not.
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'bun-seam',
      "Bun's own API stays in a handful of named files, so that another runtime is an adapter away.",
      {
        pathNot: `${pathPatterns(['server/main.ts', 'server/listen.ts', 'server/http/web-sockets.ts', 'server/relay/upstream/send.ts', 'server/store/connection/process-settings.ts', 'server/store/*/*sqlite*.ts', 'server/import/sources/*sqlite*.ts', 'server/lib/secrets/password.ts'])}|${tests}`,
      },
      { path: bunModule },
    ),
    rule(
      'bun-sqlite-in-store',
      'SQL is written in server/store and nowhere else.',
      // The import reads the databases of other programs.
      { pathNot: `${pathPatterns(['server/store', 'server/import/sources'])}|${tests}` },
      { path: '^bun:sqlite$' },
    ),

    // Both sides share the contract, so it must run anywhere.
    ...only('contract', 'Schemas and pure functions: no I/O, no Node, no DOM.', { npm: ['zod'] }),
    rule(
      'contract-zod-mini',
      'The console ships what the contract imports; zod/mini is a fraction of zod.',
      { path: '^contract/', pathNot: tests },
      {
        path: packages(['zod']),
        pathNot: '/node_modules/zod/(?:v4/)?mini/|^node_modules/zod/(?:v4/)?mini/',
        dependencyTypesNot: ['type-only'],
      },
    ),

    // Leaf modules, which know nothing of each other.
    ...only('server/lib', 'Helpers with no owner know nothing of the product.', { own: ['contract'], core: true }),
    ...roomRules('server/lib'),
    ...only('server/errors.ts', 'The error table is a leaf: everything imports it.', {
      own: ['contract', 'server/lib'],
      npm: ['zod'],
    }),
    ...only('server/log.ts', 'Everything logs, so the logger imports next to nothing.', {
      own: ['contract', 'server/lib'],
      core: true,
    }),
    ...only('server/events.ts', 'Everything reports events, so their types import next to nothing.', { own: ground }),
    ...only('server/metrics.ts', 'An event becomes a counter and a log line; nothing is decided there.', {
      own: [...ground, 'server/events.ts', 'server/log.ts'],
      core: true,
    }),
    ...only('server/config.ts', 'Reading the environment needs no part of the product.', {
      own: ground,
      npm: ['zod', 'ipaddr.js'],
      core: true,
    }),
    rule(
      'config-is-passed-in',
      'Configuration is read once, at start, and handed to what needs it; its type may be imported.',
      { path: '^server/', pathNot: `${pathPatterns([...heads, 'server/config.ts'])}|${tests}` },
      { path: '^server/config\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    ...only('server/outbound', 'One outside service per file. It is told what to send, and decides nothing.', {
      own: [...ground, ...cross],
      core: true,
    }),
    ...only('server/dialects', 'A dialect is pure: wire format to Conversation and back.', {
      own: ground,
      npm: ['zod', 'openai', '@anthropic-ai/sdk', '@google/genai'],
    }),
    rule(
      'sdk-types-in-one-file',
      "The types of a service's own SDK are read in the file wire.ts of its dialect, so that a new version is looked at in one place.",
      { path: '^server/', pathNot: `^server/dialects/[^/]+/wire\\.ts$|${tests}` },
      { path: packages(['openai', '@anthropic-ai/sdk', '@google/genai']) },
    ),
    rule(
      'dialect-to-dialect',
      'Dialects meet in the neutral Conversation; what two share belongs in a room below them or in lib/.',
      { path: '^server/dialects/([^/]+)/', pathNot: `^server/dialects/(?:${dialectRooms.join('|')})/|${tests}` },
      { path: '^server/dialects/[^/]+/', pathNot: `^server/dialects/(?:$1|${dialectRooms.join('|')})/` },
    ),
    ...roomRules('server/dialects'),
    ...only('server/providers', 'A provider translates. It knows no money, no store, no HTTP framework.', {
      own: [...ground, 'server/dialects'],
      npm: ['zod'],
      core: true,
    }),
    rule(
      'provider-to-provider',
      'Providers share through openai-compatible/, dialects/ or lib/.',
      { path: '^server/providers/([^/]+)/', pathNot: tests },
      { path: '^server/providers/[^/]+/', pathNot: '^server/providers/(?:$1|openai-compatible)/' },
    ),
    rule(
      'provider-type-imports-no-provider',
      'The interface never imports an implementation.',
      { path: '^server/providers/(?:provider\\.ts$|[^/]+/)', pathNot: tests },
      { path: '^server/providers/registry\\.ts$' },
    ),
    rule(
      'provider-interface-is-a-leaf',
      'The interface never imports an implementation.',
      { path: '^server/providers/provider\\.ts$' },
      { path: '^server/providers/' },
    ),
    rule(
      'provider-through-registry',
      'No core file names a provider: reach it through registry.ts or the type in provider.ts.',
      { pathNot: `^server/providers/|${tests}` },
      { path: '^server/providers/', pathNot: '^server/providers/(?:registry|provider)\\.ts$' },
    ),

    // The modules that use the store.
    ...only('server/store', 'The only SQL. It stores and finds, and knows no rule of the product.', {
      own: [...ground, ...cross],
      core: true,
    }),
    ...roomRules('server/store'),
    rule(
      'migrations-are-frozen',
      'A migration runs years later as it was written, so it uses no code that changes.',
      { path: '^server/store/migrations/', pathNot: `^server/store/migrations/migrate\\.ts$|${tests}` },
      {
        path: '^(?:server|contract)/',
        pathNot: '^server/store/migrations/',
        dependencyTypesNot: ['type-only'],
      },
    ),
    ...only('server/sync', 'Nodes tell each other what changed; what to do about it is up to the listener.', {
      own: [...ground, ...cross, 'server/store'],
      core: true,
    }),
    ...only('server/settings', 'Option rows become one typed value.', {
      own: [...ground, ...cross, 'server/store', 'server/sync'],
      core: true,
    }),
    ...only('server/mails', 'A mail is a text with a form; whether it is due is decided elsewhere.', {
      own: [...ground, ...cross, 'server/outbound', 'server/store', 'server/settings'],
      npm: [],
      core: true,
    }),
    ...only('server/billing', 'Money knows accounts and prices, not calls and pages.', {
      own: [...ground, ...cross, 'server/store', 'server/settings', 'server/sync'],
      core: true,
    }),

    ...only('server/backup', 'The format of a backup: what is in the file, never where the rows come from or go.', {
      own: [...ground, ...cross, 'server/outbound', 'server/store', 'server/settings', 'server/version.ts'],
      npm: ['zod'],
      core: true,
    }),

    ...only('server/captures', 'A recording copies what passes; it decides nothing about a call.', {
      own: [
        ...ground,
        ...cross,
        'server/outbound',
        'server/dialects',
        'server/store',
        'server/settings',
        'server/sync',
      ],
      core: true,
    }),

    // The hot path and the modules built on it.
    ...only('server/relay', 'The hot path stays small: it knows no management API, no jobs, no HTTP framework.', {
      own: [
        ...ground,
        ...cross,
        'server/outbound',
        'server/providers',
        'server/dialects',
        'server/billing',
        'server/captures',
        'server/store',
        'server/settings',
        'server/sync',
      ],
      core: true,
      except: ['server/relay/routes.ts'],
    }),
    ...roomRules('server/relay'),
    rule(
      'relay-routes-own',
      'The routes of the relay join HTTP and the hot path; the management API and the jobs are no part of either.',
      { path: '^server/relay/routes\\.ts$' },
      { path: '^(?:server/(?:api|jobs)|console)/' },
    ),
    ...only('server/jobs', 'Jobs use the hot path; no page and no request is behind them.', {
      own: [
        ...ground,
        ...cross,
        'server/backup',
        'server/mails',
        'server/outbound',
        'server/providers',
        'server/relay',
        'server/billing',
        'server/store',
        'server/settings',
        'server/sync',
      ],
      core: true,
    }),
    ...only('server/http', 'Middleware serves both the relay and the API, so it knows neither.', {
      own: [...ground, ...cross, 'server/outbound', 'server/billing', 'server/store', 'server/settings', 'server/sync'],
      core: true,
    }),
    ...only('server/api', 'The management API reaches calls through jobs, never the hot path itself.', {
      own: [
        ...ground,
        ...cross,
        'server/backup',
        'server/captures',
        'server/http',
        'server/jobs',
        'server/mails',
        'server/outbound',
        'server/providers',
        'server/billing',
        'server/store',
        'server/settings',
        'server/sync',
      ],
      core: true,
    }),
    ...only('server/import', 'The import enters what other programs have as an admin would, with the same checks.', {
      own: [...ground, ...cross, ...importParts],
      core: true,
    }),
    rule(
      'api-resource-to-resource',
      'Resources share through billing/, store/ or a file in api/ itself.',
      { path: '^server/api/([^/]+)/', pathNot: tests },
      { path: '^server/api/[^/]+/', pathNot: '^server/api/$1/' },
    ),
    rule(
      'heads-see-and-are-not-seen',
      'context.ts, app.ts and main.ts know the whole; a part receives the two or three things it needs.',
      { pathNot: `${pathPatterns(heads)}|${tests}` },
      { path: pathPatterns(heads) },
    ),
    rule(
      'server-to-console',
      'The server serves the built console as files and never loads its source.',
      { path: '^(?:server|contract)/' },
      { path: '^console/' },
    ),

    // The console: lib, then components, then pages, then app.
    ...only('console', 'The console talks to the server over HTTP; they share contract/ and nothing else.', {
      own: ['contract'],
    }),
    rule(
      'console-contract-by-file',
      'The table of all endpoints would load all of them; import the file of the resource.',
      { path: '^console/', pathNot: tests },
      { path: '^contract/api/index\\.ts$' },
    ),
    rule(
      'console-lib-is-a-leaf',
      'lib/ is below components/ and pages/.',
      { path: '^console/lib/', pathNot: tests },
      { path: '^console/', pathNot: '^console/(?:lib|messages)/' },
    ),
    rule(
      'console-components-below-pages',
      'A component is used by pages, so it knows none of them.',
      { path: '^console/components/', pathNot: tests },
      { path: '^console/', pathNot: '^console/(?:components|lib|messages)/' },
    ),
    rule(
      'console-pages-below-app',
      'app/ mounts the pages; a page does not know where it hangs.',
      { path: '^console/pages/', pathNot: tests },
      { path: '^console/', pathNot: '^console/(?:pages|components|lib|messages)/' },
    ),
    rule(
      'page-to-page',
      'Pages share through components/ or lib/.',
      { path: '^console/pages/([^/]+)/', pathNot: tests },
      { path: '^console/pages/[^/]+/', pathNot: '^console/pages/$1/' },
    ),

    owner(['kysely', 'pg-types', 'pg-pool'], ['server/store'], 'SQL is written in server/store and nowhere else.'),
    owner(
      ['pg'],
      ['server/store', 'server/import/sources'],
      'SQL is written in server/store, except that the import reads the databases of other programs.',
    ),
    owner(
      ['hono'],
      ['server/http', 'server/api', 'server/relay/routes.ts', 'server/app.ts', 'server/main.ts'],
      'The HTTP framework stays at the edge.',
    ),
    owner(['commander', '@clack/prompts'], ['server/commands'], 'The command line is read in server/commands.'),
    owner(['mysql2', '@noble/ciphers'], ['server/import'], 'Only the import reads what other programs wrote.'),
    owner(['aws4fetch'], ['server/outbound'], 'One outside service per file of server/outbound.'),
    owner(['nodemailer'], ['server/outbound'], 'One outside service per file of server/outbound.'),
    owner(
      ['gpt-tokenizer'],
      ['server/relay/counting/tokenizer-worker.ts'],
      'The vocabularies are large; one worker loads them when they are needed.',
    ),
    owner(['pino'], ['server/log.ts'], 'One logger, with one list of redacted fields.'),
    owner(['prom-client'], ['server/metrics.ts'], 'A counter moves in an event, where its log line is.'),
    owner(['@pydantic/genai-prices'], ['server/billing'], 'Prices come from one place.'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(?:dist|data|bench/peer)/|/fixtures/' },
    // Type imports count too: a reader has to follow them like any other dependency.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    builtInModules: { add: ['bun', 'bun:sqlite', 'bun:test', 'bun:ffi', 'bun:jsc', 'bun:main', 'bun:bundle'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
}
