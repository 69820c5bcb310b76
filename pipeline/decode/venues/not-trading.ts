import { address } from '../../domain/address.ts'
import type { Program } from '../program.ts'

/**
 * Lending, staking, vaults and NFT markets. They give a receipt for a deposit, which is not a
 * trade, so balance changes from their instructions alone make no `delta_only` swap (rule B10 and
 * section H).
 */
export const notTrading: readonly Program[] = [
  ['kamino_lend', 'KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD'],
  ['marginfi', 'MFv2hWf31Z9kbCa1snEPYctwafyhdvnV7FZnsebVacA'],
  ['solend', 'So1endDq2YkqhipRh3WViPa8hdiSpxWy6z3Z6tMCpAo'],
  ['jupiter_lend_earn', 'jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9'],
  ['jupiter_lend_borrow', 'jupr81YtYssSyPt8jbnGuiWon5f6x9TcDEFxYe3Bdzi'],
  ['drift', 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH'],
  ['marinade', 'MarBmsSgKXdrN1egZf5sqe1TMai9K1rChYNDJgjq7aD'],
  ['spl_stake_pool', 'SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy'],
  ['meteora_vault', '24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi'],
  ['magic_eden', 'M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K'],
  ['tensor', 'TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN'],
].map(([name, id]) => ({ name: name!, id: address(id!), kind: 'not_trading' }))
