import { gzipSync } from 'node:zlib'
import test from 'ava'
import { missingSignatures, readSignatures } from './signatures.ts'

test('a list of signatures has one a line, with comments', (t) => {
  t.deepEqual(readSignatures('# a list\n\nabc\n  def  the second # and a remark\n'), ['abc', 'def'])
})

test('transactions in a file of several gzip members are not fetched again', (t) => {
  const line = (signature: string) =>
    gzipSync(`${JSON.stringify({ transaction: { signatures: [signature] } })}\n`)
  const recorded = Buffer.concat([line('abc'), line('def')])
  t.deepEqual(missingSignatures(['abc', 'ghi', 'def'], recorded), ['ghi'])
  t.deepEqual(missingSignatures(['abc'], null), ['abc'])
})
