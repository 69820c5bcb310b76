import {
  GetBlockHeightRequest,
  GetBlockHeightResponse,
  GetLatestBlockhashRequest,
  GetLatestBlockhashResponse,
  GetSlotRequest,
  GetSlotResponse,
  GetVersionResponse,
  IsBlockhashValidRequest,
  IsBlockhashValidResponse,
  PingRequest,
  PongResponse,
  SubscribeReplayInfoResponse,
} from '@triton-one/yellowstone-grpc'
import type { SimulatedChain } from '../chain.ts'
import type { GrpcServerHandlers } from './server.ts'
import type { SlotStream } from './slot-stream.ts'

/** Blocks for which a blockhash is valid. */
const VALID_BLOCKS = 150

const VERSION = JSON.stringify({
  version: { package: 'yellowstone-grpc-geyser', version: '13.0.0', proto: '13.0.0' },
  extra: { hostname: 'simulator' },
})

/** The unary methods of yellowstone-grpc's Geyser service, by path. */
export function unaryMethods(
  chain: SimulatedChain,
  stream: SlotStream,
): GrpcServerHandlers['unary'] {
  return {
    '/geyser.Geyser/GetVersion': () => GetVersionResponse.encode({ version: VERSION }).finish(),
    '/geyser.Geyser/Ping': (request) =>
      PongResponse.encode({ count: PingRequest.decode(request).count }).finish(),
    '/geyser.Geyser/GetSlot': (request) => {
      const { commitment } = GetSlotRequest.decode(request)
      return GetSlotResponse.encode({ slot: String(stream.tip(commitment)) }).finish()
    },
    '/geyser.Geyser/GetBlockHeight': (request) => {
      const { commitment } = GetBlockHeightRequest.decode(request)
      const { height } = chain.block(stream.tip(commitment))
      return GetBlockHeightResponse.encode({ blockHeight: String(height) }).finish()
    },
    '/geyser.Geyser/GetLatestBlockhash': (request) => {
      const { commitment } = GetLatestBlockhashRequest.decode(request)
      const { slot, blockhash, height } = chain.block(stream.tip(commitment))
      return GetLatestBlockhashResponse.encode({
        slot: String(slot),
        blockhash,
        lastValidBlockHeight: String(height + VALID_BLOCKS),
      }).finish()
    },
    '/geyser.Geyser/IsBlockhashValid': (request) => {
      const { blockhash, commitment } = IsBlockhashValidRequest.decode(request)
      const tip = stream.tip(commitment)
      const valid = isRecentBlockhash(chain, stream, blockhash, tip)
      return IsBlockhashValidResponse.encode({ slot: String(tip), valid }).finish()
    },
    '/geyser.Geyser/SubscribeReplayInfo': () => {
      const firstAvailable = String(stream.firstAvailable())
      return SubscribeReplayInfoResponse.encode({ firstAvailable }).finish()
    },
  }
}

function isRecentBlockhash(
  chain: SimulatedChain,
  stream: SlotStream,
  blockhash: string,
  tip: number,
): boolean {
  let slot = tip
  for (let i = 0; i < VALID_BLOCKS && stream.isProduced(slot); i += 1) {
    if (chain.block(slot).blockhash === blockhash) return true
    slot = chain.parent(slot)
  }
  return false
}
