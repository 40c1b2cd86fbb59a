import { channelOrders } from './channel-orders.ts'
import { bool, seconds, section } from './option-kinds.ts'

/** Options for relayed calls: which channel serves them, how failures are handled, and how long calls may take. */
export const relayOptions = section('relay', {
  RetryTimes: {
    kind: 'integer',
    default: '2',
    min: 0,
    max: 20,
    writer: 'admin',
    description: 'How many more channels are tried if one fails.',
  },
  SameChannelRetries: {
    kind: 'integer',
    default: '1',
    min: 0,
    max: 5,
    writer: 'admin',
    description:
      'How often the same channel is called again before another one is tried, if the failure may be momentary: no connection, a connection that was reset before the response, 408, 500, 502, 503, 504, 529, or 429 with a short Retry-After.',
  },
  StreamRescue: bool(
    false,
    'admin',
    'If the stream of a text breaks off or stalls, let another channel continue where it stopped. The request pays for both attempts.',
  ),
  BackgroundTimeLimit: {
    kind: 'integer',
    default: '360',
    min: 1,
    max: 10_080,
    unit: 'minutes',
    writer: 'admin',
    description:
      'How long a service may take for a background response (`background: true`). After that, the response is cancelled. The charge is for the usage that the service reports or, if it reports none, for the prompt.',
  },
  ChannelAffinity: {
    kind: 'choice',
    default: 'on',
    choices: ['on', 'explicit', 'off'],
    writer: 'admin',
    description:
      'Which calls stay on one channel and key, so that the provider finds their prompt in its cache. on: every conversation, recognised by the session that the app names or by how it begins. explicit: only calls that name their session. off: every call is placed by weight.',
  },
  ChannelOrder: {
    kind: 'choice',
    default: 'weight',
    choices: [...channelOrders],
    writer: 'admin',
    description:
      'What decides among channels of the same priority. weight: their weight. cost: the lowest cost of the channel for the model. latency: the shortest time to the first byte in the last five minutes, as measured by each node; one session in twenty is placed by weight, so that all channels are measured. Among channels that are equal, sessions and weights decide.',
  },
  GroupChannelOrder: {
    kind: 'json',
    entries: 'channel-order',
    default: '{}',
    writer: 'admin',
    description: 'Group name → order of channels for its users, such as {"vip":"latency"}, instead of ChannelOrder.',
  },
  CallerFallbacks: bool(
    true,
    'admin',
    'Callers may list other models that may answer (`models`, as at OpenRouter). Their token must be allowed to use each of them. If this is off, such requests are refused.',
  ),
  StrictTranslationEnabled: bool(
    false,
    'admin',
    'Refuse a request if part of it cannot be expressed in the dialect of the channel, instead of dropping that part and naming it in the response (X-Tollgate-Dropped).',
  ),
  ChannelWaitTime: seconds(
    10,
    'How long a call waits, in order of arrival, if every channel that could serve it is at one of its limits.',
    'the call does not wait',
  ),
  RetryAfterLimit: {
    kind: 'number',
    default: '60',
    min: 0,
    max: 86_400,
    unit: 'seconds',
    writer: 'admin',
    description:
      'A channel that responds with Retry-After is skipped for as long as it states, but not for longer than this.',
  },
  ConnectTimeout: seconds(10, 'Time limit for connecting to the upstream.'),
  FirstByteTimeout: seconds(120, 'Time limit from sending a request to the first byte of the response.'),
  FirstTokenTimeout: seconds(
    30,
    'Time limit from sending the request to the first content of a stream; one second more for each 5,000 prompt tokens. Keep-alives and events without content do not count. Applies to models that are known not to think, and to calls that do not ask for thinking.',
  ),
  StreamIdleTimeout: seconds(60, 'Maximum silence within a stream.'),
  RelayTimeout: seconds(
    0,
    'Time limit for a complete call, with all its attempts. Callers can set a shorter one with the header X-Tollgate-Timeout.',
  ),
  CallerIdleTimeout: seconds(
    120,
    'How long a caller can leave a stream or audio unread, or its request unfinished (for a relayed request, plus one second for each 32 KiB).',
  ),
  RealtimeIdleTimeout: seconds(900, 'How long a realtime session can stay open without a message from either side.'),
  ResponsesSocketLimit: {
    kind: 'integer',
    default: '64',
    min: 0,
    max: 10_000,
    writer: 'admin',
    description:
      'How many WebSocket connections to /v1/responses a token can have open at a time, in each process. 0 = no limit.',
  },
  KeepAliveInterval: seconds(
    15,
    'A stream that is silent for this long, even before its upstream begins to respond, gets a line without content, so that proxies keep it open.',
    'never',
  ),
  RequestSizeLimit: {
    kind: 'integer',
    default: String(32 * 1024 * 1024),
    min: 1024,
    max: 1024 * 1024 * 1024,
    unit: 'bytes',
    writer: 'admin',
    description: 'Maximum size of the body of a relayed request.',
  },
})
