/**
 * What a hostile or broken peer may send instead of an answer: bytes on a connection, made from a seed. None of it is an
 * answer by the protocol, so none of it may ever count.
 */

const HELD = '{"held":true,"hostname":"barn","channel":"stable","version":"1","acquired_at_ms":17}'
/** This would be an answer, if it came as one. */
const ANSWER = `{"holdings":{"u":${HELD}}}`

const kinds = [
  ({ noise }) => noise(2_000),
  ({ upTo }) => 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'.slice(0, upTo(52)),
  ({ upTo }) => `HTTP/${upTo(9)}.${upTo(9)} ${upTo(1_200)} ${'x'.repeat(upTo(50))}\r\n\r\n`,
  ({ noise }) => whole(noise(3_000)),
  ({ upTo }) => whole(ANSWER.slice(0, upTo(ANSWER.length))),
  ({ upTo }) => whole(`{"holdings":{"u":${'['.repeat(upTo(1_500))}`),
  ({ upTo }) => whole('x'.repeat(10_000 + upTo(100_000))),
  ({ upTo }) => `HTTP/1.1 200 OK\r\ncontent-length: ${upTo(2 ** 31) + 200}\r\n\r\n${ANSWER}`,
  () => `HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 900\r\n\r\n${ANSWER}`,
  ({ pick }) =>
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${pick(['zz', '-1', 'ffffffffffffffff', '5\r\n{"hol\r\n'])}\r\n`,
  ({ pick }) =>
    `HTTP/1.1 ${pick([301, 302, 307, 308])} Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n`,
  ({ upTo }) => 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(upTo(200)),
  ({ upTo }) => `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(upTo(3_000))}`,
  ({ upTo }) => `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(upTo(50_000))}\r\n\r\n`,
  () => 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  ({ noise }) => `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 50\r\n\r\n${noise(50)}`,
  () => whole(`{"holdings":{"another":${HELD}},"__proto__":{"u":${HELD}}}`),
  () => whole(`{"holdings":{"__proto__":{"u":${HELD}},"constructor":${HELD}}}`),
  ({ pick }) => whole(`{"holdings":{"u":${pick(WRONG)}}}`),
  ({ pick }) => whole(pick(WRONG)),
  ({ pick }) => status(pick([201, 204, 206, 304, 400, 401, 403, 404, 405, 418, 500, 503]), ANSWER),
  () => '',
  () => '\r\n\r\n\r\n'
]

/** A field of another type, too long, or out of range; or nothing that was asked for. */
const WRONG = [
  'null',
  'true',
  '[]',
  '{}',
  '"held"',
  '{"held":"true"}',
  '{"held":1}',
  '{"held":null}',
  '{"held":true}',
  HELD.replace('true', '[true]'),
  HELD.replace('17', '"17"'),
  HELD.replace('17', '1e999'),
  HELD.replace('17', '1.5'),
  HELD.replace('17', '9007199254740993'),
  HELD.replace('17', '-1e300'),
  HELD.replace('"barn"', 'null'),
  HELD.replace('"barn"', '{"toString":1}'),
  HELD.replace('"barn"', `"${'b'.repeat(254)}"`),
  HELD.replace('"stable"', `"${'s'.repeat(65)}"`),
  HELD.replace('"1"', '1')
]

/** The bytes of one answer. `random`: 0 up to 1. */
export function hostileAnswer(random) {
  const upTo = (count) => Math.floor(random() * count)
  const pick = (of) => of[upTo(of.length)]
  const noise = (length) => {
    const bytes = Buffer.alloc(upTo(length))
    for (let at = 0; at < bytes.length; at++) bytes[at] = upTo(256)
    return bytes.toString('latin1')
  }
  return Buffer.from(pick(kinds)({ upTo, pick, noise }), 'latin1')
}

function status(code, body) {
  return `HTTP/1.1 ${code} x\r\ncontent-length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`
}

function whole(body) {
  return status(200, body)
}
