/** Looks at a packet's size and header before anything decodes it, so that the work for one packet is bounded. */
const HEADER_BYTES = 12
const MAX_BYTES = 9_000
const MAX_RECORDS = 512
/** A root name, a type and a class; a record has a TTL and a length besides. */
const QUESTION_BYTES = 5
const RECORD_BYTES = 11
const OPCODE_AND_RCODE = 0x780f

export function isWorthDecoding(packet: Uint8Array): boolean {
  const { byteLength } = packet
  if (byteLength < HEADER_BYTES || byteLength > MAX_BYTES) return false
  const view = new DataView(packet.buffer, packet.byteOffset, byteLength)
  if ((view.getUint16(2) & OPCODE_AND_RCODE) !== 0) return false
  const questions = view.getUint16(4)
  const records = view.getUint16(6) + view.getUint16(8) + view.getUint16(10)
  if (questions + records === 0 || questions + records > MAX_RECORDS) return false
  return questions * QUESTION_BYTES + records * RECORD_BYTES <= byteLength - HEADER_BYTES
}
