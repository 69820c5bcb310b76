import { z } from 'zod'
import { parseJson } from '../runtime/parse-json.ts'
import { AssignerProtocol, type PartitionAssigner } from './kafka-client.ts'
import { assignSticky, type Claim, NO_CLAIM } from './sticky-assignment.ts'

/**
 * Returns the assigner of a consumer whose partitions stay where they are (rule K23). Each member
 * sends its claim with its metadata, and the leader of the group shares the partitions. `claimed`:
 * what the member has now. Metadata without a readable claim claims nothing.
 */
export function stickyAssigner(partitions: number, claimed: () => Claim): PartitionAssigner {
  return () => ({
    name: 'tracked-wallets-sticky',
    version: VERSION,
    protocol({ topics }) {
      const userData = Buffer.from(JSON.stringify(claimed()))
      const metadata = { version: VERSION, topics, userData }
      return { name: this.name, metadata: AssignerProtocol.MemberMetadata.encode(metadata) }
    },
    async assign({ members, topics: [topic = ''] }) {
      const claims = members.map(
        ({ memberId, memberMetadata }) => [memberId, claimOf(memberMetadata)] as const,
      )
      return [...assignSticky(partitions, new Map(claims))].map(([memberId, share]) => {
        const assignment = { [topic]: [...share] }
        const encoded = { version: VERSION, assignment, userData: Buffer.alloc(0) }
        return { memberId, memberAssignment: AssignerProtocol.MemberAssignment.encode(encoded) }
      })
    },
  })
}

const VERSION = 0

const CLAIM = z.object({ generation: z.number(), partitions: z.array(z.number()) })

function claimOf(metadata: Buffer): Claim {
  const { userData } = AssignerProtocol.MemberMetadata.decode(metadata) ?? {}
  const { data } = CLAIM.safeParse(parseJson(userData?.toString() ?? ''))
  return data ?? NO_CLAIM
}
