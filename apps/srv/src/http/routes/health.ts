/** That we are here, and which version: open to anyone on this computer. */
import type { HttpApp } from '../http-app.js'
import type { HttpPorts } from '../ports.js'

export function addHealthRoute(app: HttpApp, { version }: Pick<HttpPorts, 'version'>): void {
  app.get('/health', { config: { opens: 'anyone' } }, async () => ({ status: 'ok', version }))
}
