/**
 * A program that calls another one. Its accounts are source (165 bytes), destination (165 bytes),
 * authority (no data) and the program to call, which gets the first three and the instruction data.
 * So a token transfer happens inside another program. It is written by hand as SBF version 0 in the
 * smallest ELF file that the loader accepts, because no npm package compiles for the virtual
 * machine. Source: solana-sbpf `ebpf.rs`, `elf.rs` (lenient parser); agave
 * `program-runtime/src/serialization.rs` (aligned input), `sdk/sbf/c/inc/sol` (`SolInstruction`,
 * `SolAccountMeta`, `SolAccountInfo`).
 */
export function forwarderProgram(): Uint8Array {
  return elfOf(code())
}

/**
 * Input of a program: u64 number of accounts, then each: u8 x 4 (duplicate, signer, writable,
 * executable), 4 padding, 32 key, 32 owner, u64 lamports, u64 length, data, 10,240 spare and
 * padding, u64 rent epoch.
 */
const FIELD = {
  signer: 1,
  writable: 2,
  executable: 3,
  key: 8,
  owner: 40,
  lamports: 72,
  length: 80,
  data: 88,
}
const SPARE = 10_240
const sizeOf = (data: number) => Math.ceil((FIELD.data + data + SPARE) / 8) * 8 + 8
const SOURCE = 8
const DESTINATION = SOURCE + sizeOf(165)
const AUTHORITY = DESTINATION + sizeOf(165)
const CALLED = AUTHORITY + sizeOf(0)

// Offsets on the stack, below r10.
const INFOS = -400
const METAS = -120
const INSTRUCTION = -64

function code(): Buffer[] {
  const lines: Buffer[] = [copy(6, 1)]
  const store = (at: number, ...value: Buffer[]) => lines.push(...value, storeWord(10, at, 7))
  const pointer = (at: number) => [copy(7, 6), add(7, at)]
  const byte = (at: number, from: number) => lines.push(loadByte(7, 6, from), storeByte(10, at, 7))
  for (const [index, account] of [SOURCE, DESTINATION, AUTHORITY, CALLED].entries()) {
    const info = INFOS + 56 * index
    store(info, ...pointer(account + FIELD.key))
    store(info + 8, ...pointer(account + FIELD.lamports))
    store(info + 16, loadWord(7, 6, account + FIELD.length))
    store(info + 24, ...pointer(account + FIELD.data))
    store(info + 32, ...pointer(account + FIELD.owner))
    store(info + 40, set(7, 0))
    byte(info + 48, account + FIELD.signer)
    byte(info + 49, account + FIELD.writable)
    byte(info + 50, account + FIELD.executable)
    if (account === CALLED) continue
    const meta = METAS + 16 * index
    store(meta, ...pointer(account + FIELD.key))
    byte(meta + 8, account + FIELD.writable)
    byte(meta + 9, account + FIELD.signer)
  }
  store(INSTRUCTION, ...pointer(CALLED + FIELD.key))
  store(INSTRUCTION + 8, copy(7, 10), add(7, METAS))
  store(INSTRUCTION + 16, set(7, 3))
  // After the called program's data, whatever its length: u64 length of the instruction data, then
  // the data.
  lines.push(loadWord(7, 6, CALLED + FIELD.length), addRegister(7, 6))
  lines.push(add(7, CALLED + FIELD.data + SPARE + 7), and(7, -8), add(7, 8))
  lines.push(loadWord(8, 7, 0), add(7, 8))
  lines.push(storeWord(10, INSTRUCTION + 24, 7), storeWord(10, INSTRUCTION + 32, 8))
  lines.push(copy(1, 10), add(1, INSTRUCTION), copy(2, 10), add(2, INFOS))
  lines.push(set(3, 4), set(4, 0), set(5, 0), CALL, line(0x95, 0, 0, 0, 0))
  return lines
}

const set = (to: number, value: number) => line(0xb7, to, 0, 0, value)
const copy = (to: number, from: number) => line(0xbf, to, from, 0, 0)
const add = (to: number, value: number) => line(0x07, to, 0, 0, value)
const addRegister = (to: number, from: number) => line(0x0f, to, from, 0, 0)
const and = (to: number, value: number) => line(0x57, to, 0, 0, value)
const loadWord = (to: number, from: number, at: number) => line(0x79, to, from, at, 0)
const loadByte = (to: number, from: number, at: number) => line(0x71, to, from, at, 0)
const storeWord = (to: number, at: number, from: number) => line(0x7b, to, from, at, 0)
const storeByte = (to: number, at: number, from: number) => line(0x73, to, from, at, 0)
/** Hash of the function that the relocation names. */
const CALL = line(0x85, 0, 1, 0, -1)

function line(operation: number, to: number, from: number, at: number, value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt8(operation, 0)
  bytes.writeUInt8((from << 4) | to, 1)
  bytes.writeInt16LE(at, 2)
  bytes.writeInt32LE(value, 4)
  return bytes
}

/** ELF64, little-endian, shared object for machine 247; addresses are file offsets. */
function elfOf(lines: readonly Buffer[]): Uint8Array {
  const text = Buffer.concat(lines)
  const names = Buffer.from('\0.text\0.dynamic\0.dynsym\0.dynstr\0.rel.dyn\0.shstrtab\0', 'latin1')
  const symbolNames = Buffer.from('\0sol_invoke_signed_c\0', 'latin1')
  const textAt = 64
  const dynamicAt = textAt + text.length
  const symbolsAt = dynamicAt + 7 * 16
  const symbolNamesAt = symbolsAt + 48
  const relocationsAt = Math.ceil((symbolNamesAt + symbolNames.length) / 8) * 8
  const namesAt = relocationsAt + 16
  const sectionsAt = Math.ceil((namesAt + names.length) / 8) * 8

  const dynamic = words(
    ...[17, relocationsAt, 18, 16, 19, 16], // REL, RELSZ, RELENT
    ...[6, symbolsAt, 11, 24, 5, symbolNamesAt, 0, 0], // SYMTAB, SYMENT, STRTAB, NULL
  )
  const symbols = Buffer.alloc(48)
  symbols.writeUInt32LE(1, 24)
  symbols.writeUInt8(0x10, 28) // global
  const relocations = words(textAt + text.length - 16, (1n << 32n) | 10n) // R_BPF_64_32 of symbol 1
  const section = sectionsOf(names)
  const sections = [
    section('', 0, 0, 0, 0, 0, 0),
    section('.text', 1, 6, textAt, text.length, 0, 0),
    section('.dynamic', 6, 2, dynamicAt, dynamic.length, 4, 16),
    section('.dynsym', 11, 2, symbolsAt, 48, 4, 24),
    section('.dynstr', 3, 2, symbolNamesAt, symbolNames.length, 0, 0),
    section('.rel.dyn', 9, 2, relocationsAt, 16, 3, 16),
    section('.shstrtab', 3, 0, namesAt, names.length, 0, 0),
  ]
  const header = headerOf(textAt, sectionsAt, sections.length)
  const file = Buffer.alloc(sectionsAt + 64 * sections.length)
  const parts: [number, Buffer][] = [
    [0, header],
    [textAt, text],
    [dynamicAt, dynamic],
    [symbolsAt, symbols],
    [symbolNamesAt, symbolNames],
    [relocationsAt, relocations],
    [namesAt, names],
    [sectionsAt, Buffer.concat(sections)],
  ]
  for (const [at, bytes] of parts) file.set(bytes, at)
  return file
}

/** Creates the headers of sections, whose names are in a table. */
function sectionsOf(names: Buffer) {
  return (
    name: string,
    type: number,
    flags: number,
    at: number,
    size: number,
    link: number,
    entry: number,
  ) => {
    const bytes = Buffer.alloc(64)
    bytes.writeUInt32LE(name === '' ? 0 : names.indexOf(`${name}\0`), 0)
    bytes.writeUInt32LE(type, 4)
    words(flags, at, at, size).copy(bytes, 8)
    bytes.writeUInt32LE(link, 40)
    words(8, entry).copy(bytes, 48)
    return bytes
  }
}

/** The header of a file whose last section has the names. */
function headerOf(entry: number, sectionsAt: number, sections: number): Buffer {
  const header = Buffer.alloc(64)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(3, 16)
  header.writeUInt16LE(247, 18)
  header.writeUInt32LE(1, 20)
  words(entry, 64, sectionsAt).copy(header, 24)
  for (const [at, value] of [64, 56, 0, 64, sections, sections - 1].entries())
    header.writeUInt16LE(value, 52 + 2 * at)
  return header
}

function words(...values: readonly (number | bigint)[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * index)
  return bytes
}
