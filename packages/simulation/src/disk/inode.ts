/** A file or a folder on a simulated disk: what programs see, and what a power cut would leave of it. */
export interface OpenFile {
  readonly inode: Inode
  readonly path: string
  readonly append: boolean
}

const NOTHING = Buffer.alloc(0)
/** What grows beyond this gets room to grow on. */
const LARGE = 4_096

export class Inode {
  readonly number: number
  readonly kind: 'file' | 'folder'
  readonly mode: number
  /** Never changed in place: whoever has it has what stood there then. */
  data: Buffer = NOTHING
  /** What is on the platter; undefined if nothing of it was ever synced. */
  durable: Buffer | undefined
  entries = new Map<string, Inode>()
  durableEntries = new Map<string, Inode>()
  mtimeMs = 0
  /** The open file that has the flock. */
  locked: OpenFile | undefined
  /** `data` is its beginning, unless a power cut has put something else there. */
  #room = NOTHING
  #written = 0
  watchers: ((event: 'change' | 'rename') => void)[] = []

  constructor(number: number, kind: 'file' | 'folder', mode: number) {
    this.number = number
    this.kind = kind
    this.mode = mode
  }

  tell(event: 'change' | 'rename'): void {
    for (const watcher of [...this.watchers]) watcher(event)
  }

  /** Puts bytes at a place; what lies between the end and that place becomes zeros. */
  write(at: number, part: Buffer): void {
    const { data } = this
    const length = Math.max(data.length, at + part.length)
    const isEnd = at === data.length
    if (isEnd && data.buffer === this.#room.buffer && at === this.#written && length <= this.#room.length) {
      // Behind what anybody has seen.
      part.copy(this.#room, at)
    } else {
      this.#room = Buffer.alloc(isEnd && length > LARGE ? 2 * length : length)
      data.copy(this.#room)
      part.copy(this.#room, at)
    }
    this.#written = length
    this.data = this.#room.length === length ? this.#room : this.#room.subarray(0, length)
  }

  sync(): void {
    if (this.kind === 'file') this.durable = this.data
    else this.durableEntries = new Map(this.entries)
  }
}
