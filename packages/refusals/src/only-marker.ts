/**
 * Keeps the markers honest: names, hosts, paths and error texts come from elsewhere, and none of them may turn one
 * kind of refusal into another, neither alone nor together with the words around it.
 */
import { REFUSAL_MARKERS, type RefusalMarker } from './markers.js'

/**
 * The finished text, in which every marker but `allowed` is broken: its last space becomes an underscore, which a
 * reader still understands. No two markers can overlap, so the allowed one is never damaged.
 */
export function withOnlyMarker(text: string, allowed?: RefusalMarker): string {
  let kept = text
  for (const marker of REFUSAL_MARKERS) {
    // Folding with the u flag also finds what only becomes the marker when lower-cased, such as the Kelvin sign for k.
    if (marker !== allowed) kept = kept.replace(new RegExp(marker, 'giu'), broken)
  }
  return kept
}

function broken(phrase: string): string {
  const lastSpace = phrase.lastIndexOf(' ')
  return `${phrase.slice(0, lastSpace)}_${phrase.slice(lastSpace + 1)}`
}
