/** A file or a folder on a simulated disk: what programs see, and what a power cut would leave of it. */
export interface OpenFile {
  readonly inode: Inode
  readonly path: string
  readonly append: boolean
}

export class Inode {
  readonly number: number
  readonly kind: 'file' | 'folder'
  readonly mode: number
  data: Buffer = Buffer.alloc(0)
  /** What is on the platter; undefined if nothing of it was ever synced. */
  durable: Buffer | undefined
  entries = new Map<string, Inode>()
  durableEntries = new Map<string, Inode>()
  mtimeMs = 0
  /** The open file that has the flock. */
  locked: OpenFile | undefined
  watchers: ((event: 'change' | 'rename') => void)[] = []

  constructor(number: number, kind: 'file' | 'folder', mode: number) {
    this.number = number
    this.kind = kind
    this.mode = mode
  }

  tell(event: 'change' | 'rename'): void {
    for (const watcher of [...this.watchers]) watcher(event)
  }

  sync(): void {
    if (this.kind === 'file') this.durable = Buffer.from(this.data)
    else this.durableEntries = new Map(this.entries)
  }
}
