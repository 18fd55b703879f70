/**
 * Refuses a Node that is too old, on import, before anything that such a Node could not even parse is loaded.
 * Old syntax only in this file.
 */
var parts = process.versions.node.split('.').map(Number)

if (parts[0] < 20 || (parts[0] === 20 && parts[1] < 19)) {
  process.stderr.write(
    'agentmux: Node ' +
      process.versions.node +
      ' is too old: 20.19 or newer is needed. Install it from https://nodejs.org or with your version manager (nvm install 20).\n'
  )
  process.exit(1)
}
