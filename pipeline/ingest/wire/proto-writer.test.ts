import test from 'ava'
import { ProtoWriter } from './proto-writer.ts'

test('a message is the same at any offset of the buffer', (t) => {
  const end = 32 * 1024
  for (let size = end - 30; size < end + 5; size++) {
    const out = new ProtoWriter()
    out.bytesOf(1, new Uint8Array(size))
    out.message(2, () => {
      out.uint(1, 5)
      out.text(2, 'é')
    })
    t.deepEqual([...out.finish().slice(-8)], [0x12, 6, 0x08, 5, 0x12, 2, 0xc3, 0xa9])
  }
})
