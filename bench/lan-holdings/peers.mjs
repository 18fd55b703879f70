/** A process with real peers on loopback: answers who-holds questions as the protocol says, and counts them for its parent. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

const [count] = process.argv.slice(2).map(Number)
const claim = createHash('sha256').update('claim').digest('hex')
let questions = 0

function holding(uid) {
  return uid === 'held'
    ? { held: true, hostname: 'barn', channel: 'stable', version: '1', acquired_at_ms: 17, claim }
    : { held: false, hostname: 'barn', channel: '', version: '', acquired_at_ms: 0 }
}

function serve(request, response) {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    questions++
    const { uids } = JSON.parse(body)
    const holdings = Object.fromEntries(uids.map((uid) => [uid, holding(uid)]))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ holdings }))
  })
}

const peers = []
for (let at = 0; at < count; at++) {
  const host = `127.0.2.${1 + (at % 250)}`
  const server = createServer(serve).listen(0, host)
  await once(server, 'listening')
  peers.push({ host, port: server.address().port, number: at })
}
process.send(peers)
process.on('message', () => {
  process.send({ questions })
  questions = 0
})
process.on('disconnect', () => process.exit())
