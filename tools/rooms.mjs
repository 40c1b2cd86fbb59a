// The rooms of the server's large folders, lowest first. A room is a part of a folder. It may import the rooms before
// it, but none after it. '.' means the files of the folder itself. The import rules and the tables and diagrams in
// docs/ARCHITECTURE.md are made from this list.

/**
 * Every folder with rooms: [room, what it is for], in their order.
 * @type {Readonly<Record<string, readonly (readonly [room: string, purpose: string])[]>>}
 */
export const rooms = {
  'server/lib': [
    ['.', 'Helpers, each a single function.'],
    [
      'bytes',
      'Parses and decompresses: server-sent events, JSON lines, AWS events, WebSocket frames, compressed bodies.',
    ],
    ['secrets', 'Encryption, hashing and random ids; removes keys from texts.'],
    ['network', 'Addresses and connections.'],
  ],
  'server/dialects': [
    ['neutral', "What all dialects share: a conversation, a reply, its events, a failure, a dialect's interface."],
    ['damaged-events', 'Unreadable events in a stream: when they are skipped, and when they end the response.'],
    ['metering', 'Counts the tokens of a response that have arrived so far.'],
    ['models', 'What a model accepts, derived from its name.'],
    ['wire', 'Parts of wire formats that several dialects share.'],
    ['failures', 'Turns the errors of all services into one format.'],
    ['openai-shared', "The parts of requests and usage that all of OpenAI's dialects share."],
    ['openai-chat', "OpenAI's chat, on which other dialects are built."],
    ['chat-based', "Formats that are OpenAI's chat with other names."],
    ['.', 'Tables of all dialects.'],
  ],
  'server/store': [
    ['schema', 'Tables, and the types of ledger operations. It contains no SQL statements.'],
    ['.', "The store's interface: what a database, a transaction and a notice are."],
    ['statements', 'What all SQL statements need: conditions, paging, row locks, the write queue, database errors.'],
    ['installation', 'The installation itself: options, nodes, job runs, the audit log.'],
    ['usage', 'Totals of the log by hour, day and week.'],
    ['logs', 'Adds, lists, finds, follows and purges log rows.'],
    ['accounts', 'Users and what they own.'],
    ['channels', 'Channels, their keys and health, and what routing reads.'],
    ['ledger', 'Holds and settlements on both databases, limits, and the check that balances and log rows agree.'],
    ['imports', 'The journal of imports, and rows that arrive in bulk.'],
    ['connection', 'Opens and owns a database, and listens for its notices.'],
    ['migrations', "The schema's history."],
    [
      'snapshot',
      'A whole database at once: snapshots, filling a database from one, copies before an upgrade, another secret key.',
    ],
  ],
  'server/relay': [
    ['cancellation', 'What ends a call early: a time limit, a caller who disconnects, a process that stops.'],
    ['body', 'Reads the body of a request, within its limits.'],
    ['routing', 'Which channel can serve a model, and which is healthy enough to be used.'],
    ['counting', 'Counts tokens, by an estimate or with the tokenizer in a worker.'],
    ['call', 'What belongs to a call: its caller, its route and its context.'],
    ['headers', 'Request and response headers.'],
    ['charging', 'What a call may cost, what it cost in the end, and the only code that settles it.'],
    [
      'failures',
      'What a failure means for the caller, for a retry, for the health of channel and key, and for the log.',
    ],
    ['request', 'Turns a URL and a body into a call.'],
    ['admission', 'Who is calling, and whether they are allowed to.'],
    ['upstream', 'Prepares a request for one channel, sends it and reads the response.'],
    ['attempts', 'Makes one attempt after another. All share one hold and the table of remedies.'],
    [
      'stream',
      'Opens a streamed response, meters it, passes it on or translates it, and never ends an incomplete one as if it were complete.',
    ],
    ['rescue', 'Continues a stream that broke off at another channel, so that the caller gets one answer.'],
    [
      'background',
      'Responses that services generate after the call has returned: recorded, polled, and charged when they end.',
    ],
    ['answer', "Turns the upstream's response into the response for the caller."],
    ['free-calls', 'Calls that cost nothing: lists of models and prices, billing figures, token counts, dry runs.'],
    ['realtime', 'Sessions over WebSocket.'],
    ['.', 'The routes, and one call from beginning to end.'],
  ],
}
