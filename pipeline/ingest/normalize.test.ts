import test from 'ava'
import { readCorpus } from '../testing/corpus.ts'
import { plain, toBase64Json, toGrpcUpdate } from '../testing/encodings.ts'
import { normalizeGrpc } from './normalize-grpc.ts'
import { normalizeRpc } from './normalize-rpc.ts'

const recorded = readCorpus()
const onCorpus = recorded.length > 0 ? test : test.skip
const inJson = recorded.filter(({ encoding }) => encoding === 'json')

onCorpus('a transaction is the same value from Yellowstone protobuf as from RPC JSON', (t) => {
  for (const { json, tx } of inJson) {
    t.deepEqual(plain(normalizeGrpc(toGrpcUpdate(json, tx.slot, tx.index))), plain(tx))
  }
})

onCorpus('a transaction is the same value in base64 as in json', (t) => {
  for (const { json, tx } of inJson) {
    t.deepEqual(plain(normalizeRpc(toBase64Json(json), tx)), plain(tx))
  }
})
