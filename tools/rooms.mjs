// The rooms of the server's large folders, the lowest first: a room imports those before it and none after it. '.'
// means the files of the folder itself. The import rules are made from this list, and so are the table and diagram in
// docs/ARCHITECTURE.md.

/**
 * Every folder with rooms: [room, what it is for], in their order.
 * @type {Readonly<Record<string, readonly (readonly [room: string, purpose: string])[]>>}
 */
export const rooms = {
  'server/lib': [
    ['.', 'Helpers of one function each.'],
    [
      'bytes',
      'Framing and unpacking: server-sent events, JSON lines, AWS events, WebSocket frames, compressed bodies.',
    ],
    ['secrets', 'Sealing, hashing, random ids; texts without a key.'],
    ['network', 'Addresses and connections.'],
  ],
  'server/dialects': [
    ['neutral', 'Between dialects: a conversation, a reply, its events, a failure, and what a dialect is.'],
    ['damaged-events', 'Events of a stream that nobody can read: skipped, or the end of the answer.'],
    ['metering', 'What an answer has said so far, in tokens.'],
    ['models', 'What a model takes, as far as its name tells.'],
    ['wire', 'Pieces of wire formats that several dialects have.'],
    ['failures', 'Errors of services, as one kind of failure.'],
    ['openai-shared', "What OpenAI's dialects ask for and report in the same words."],
    ['openai-chat', "OpenAI's chat, on which others are built."],
    ['chat-based', "Formats that are OpenAI's chat in other words."],
    ['.', 'Tables over all dialects.'],
  ],
  'server/store': [
    ['schema', 'Tables and the types of ledger operations. No statement.'],
    ['.', 'The face of the store: what a database, a transaction and a notice are.'],
    [
      'statements',
      'What every statement needs: conditions, pages, row locks, the write queue, errors of the databases.',
    ],
    ['installation', 'The installation itself: options, nodes, runs of jobs, the audit trail.'],
    ['usage', 'Sums of the log by hour, day and week.'],
    ['logs', 'Log rows: added, listed, found, followed, purged.'],
    ['accounts', 'People and what they own.'],
    ['channels', 'Channels, their keys and health, and what routing reads.'],
    ['ledger', 'Holds and settles on both databases, limits, and the proof that the books agree.'],
    ['connection', 'Opening a database, owning it, hearing from it.'],
    ['migrations', "The schema's history."],
  ],
  'server/relay': [
    ['cancellation', 'What ends a call early: a time limit, a caller who leaves, a process that stops.'],
    ['body', 'Reads the body of a request, within its limits.'],
    ['routing', 'Which channel can serve a model, and which is healthy enough to be asked.'],
    ['counting', 'Counts tokens, by an estimate or by the tokenizer in its worker.'],
    ['call', 'What a call, its caller and its surroundings are.'],
    ['headers', 'Headers in both directions.'],
    ['charging', 'What a call may cost, what it did cost, and the one place where it is settled.'],
    ['failures', 'What a failure means: for the caller, for a retry, for the health of channel and key, for the log.'],
    ['request', 'From an address and a body to a call.'],
    ['admission', 'Who calls, and whether they may.'],
    ['upstream', 'Prepares a request for one channel, sends it and reads what comes back.'],
    ['attempts', 'One attempt after another: the table of remedies, and the hold that all attempts share.'],
    ['stream', 'A streamed answer: opened, metered, passed on or translated, ended honestly.'],
    ['answer', "The upstream's answer becomes the caller's."],
    ['free-calls', 'Calls that cost nothing: lists of models and prices, billing figures, token counts.'],
    ['realtime', 'Sessions over WebSocket.'],
    ['.', 'The story: routes, one call, its life.'],
  ],
}
