// Loaded before the peer, which would otherwise listen on every address.
const { Server } = require('node:net')

const listen = Server.prototype.listen
Server.prototype.listen = function listenOnLoopback(...args) {
  if (typeof args[0] === 'number') return listen.call(this, args[0], '127.0.0.1', args.at(-1))
  if (typeof args[0] === 'object' && args[0] !== null) args[0] = { ...args[0], host: '127.0.0.1' }
  return listen.apply(this, args)
}
