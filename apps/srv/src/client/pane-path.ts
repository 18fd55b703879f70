/** The address of a pane's route: whatever was typed as a block id stays one segment of it. */
export function panePath(block: string, route: 'turns' | 'close' | 'record'): string {
  return `/api/v1/agents/${encodeURIComponent(block)}/${route}`
}
