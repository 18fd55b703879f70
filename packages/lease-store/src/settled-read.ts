/**
 * Reading without the lock (R6): a renewal may be rewriting the file in place, so a text counts once two reads in a
 * row agree and it is whole. Waits for nobody; what never settles is returned as last read.
 */
import { type FileText, readText } from './small-file.js'

/** A rewrite is one small write; more than a few torn reads in a row means that the file is damaged. */
const MAX_READS = 8

export function readSettled(path: string): FileText {
  let before = readText(path)
  for (let reads = 1; reads < MAX_READS; reads++) {
    const again = readText(path)
    if (sameText(before, again) && looksWhole(again)) return again
    before = again
  }
  return before
}

function sameText(one: FileText, other: FileText): boolean {
  if (one.kind === 'text' && other.kind === 'text') return one.text === other.text
  return one.kind === other.kind
}

function looksWhole(file: FileText): boolean {
  if (file.kind !== 'text') return true
  try {
    JSON.parse(file.text)
    return true
  } catch {
    return false
  }
}
