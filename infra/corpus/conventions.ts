/**
 * Differences between independent sources and the decoder, by signature: the convention that
 * explains each, checked by hand to the lamport.
 */
export const CONVENTIONS: Readonly<Record<string, string>> = {
  '2nLWcmrav8ZinvmsYz35kh3w5rMo1sokzmHdmkXjYhKYt762n67Q21xEuTG2rGGNJYDJ63nCHWmgXeYL3U8PHasK':
    "the source books the router's platform fee (2000) apart; it is a part of what w paid (B5)",
  s5sthr57drUS4gyg5SVaCrbXnAEE584BYBGaYgKRMkUgERZupJ9KxN3cQ8RDR1cNiASjuTM5svQWiCGL5V5Ds4y:
    "the source books the router's platform fee (19955) apart; it is a part of what w paid (B5)",
  '4U8kypMuCUCkR6teu2Vn8ujaEJUR3dcUU5QExZxSMMeJ5fRTvYfWs5M5AB9yNjjHKAQ4w433QVyUivc3Pp8gvG1R':
    "the source gives pump.fun's event without its fee (30000000), which w paid too (B5)",
  JBnrBbgqh9jRUkUD68GdwBWoxWyz8SqEuM4eYqR6cyMMofFD43XQKjWBMHvRanPuzSU9UC8CFBQH1brAmvjxZpA:
    "the source gives pump.fun's events without their fees, which each w paid too (B5)",
  '3S2vFszSSCxdeS8JJgzhEk8MxVsDA6m1NMm8rRVfAJnKw2nepVre4kXUBwtCCqY91duXyT3wv9nCwZgUJcj9btj6':
    "the source gives pump.fun's events without their fees, which each w paid too (B5)",
  '3tJczs8y2bR8tVALRQZBZFihn2gZ9EWJuHgKQiyiWawr3aCNekd76BNX78fero23nv4afmsuE5Rsa99RccCijWy5':
    "the source gives pump.fun's event before its fee (35562), which w did not get (B5)",
  '3DZuPoKRrxLrb1rqaccgdjuiWuxFFTARdfFocQ66WymR3Ss2vURTt7F4ZWwHpwTTrj9cbvV59xxwYRUngEiRAFNE':
    "the source leaves out the router's commission (545483), which its instruction takes from w (B5)",
  '628Q5CDNX5mW8pmHUZ56WJ1PmPZXVYuxHontQaxdfNfXAF9bbDJrsmzxkvnzCFgx3w8vqcpoN8prCmmRGMAjjLA2':
    "the source leaves out pump.fun's fee (3920792) and the terminal's (4000000), both taken inside the swap instruction (B5)",
  '5839B8x1gBRJHHbAbp7nNR76KsLcSFdjqr8CgjgpgLRSXydKvahbZRCjuEuqAGZK4ZWehA963Rd2moYDkSbUFvS3':
    "the source leaves out pump.fun's fee (980199) and the terminal's (1000000), both taken inside the swap instruction (B5)",
  '5KEMtQuv4Ki1xoFVAuA4GXYnkPG2bXSE3n1BNFd1U1yqHC2J91qtQrC7TkpjZvgmSrb7uAhrc6WGZpioE7W6mHRD':
    "the source leaves out pump.fun's fee (16678034) and the terminal's (16678033), which w did not get (B5)",
  wBRjzJGja1cydQXV8w1cEMjSpPxexAHJJ5e5SoyAtb9KUSgFDCymcGbGydZXZE1cPojhWtjLHLazJkd6zvWaTec:
    'the source states one of eight transfers of 222000000000 each; their sum is one event (B12)',
  '4ozK1xPjYQAqQ9JatReq8S9roYYfmF9uQRi1pjCSD4MxRyScJk6zFAm8ifW77zQgmpHyrqfqbG8ztcqSn6NVcVr':
    'the source gives the balance change, with a tip (1003113) and rent (2159290), which are no part of a trade (B3)',
  X6BCc3aYRNp5Rfs7wZMywHK3iuc48VJ5LhqUqx9GdpS2gA9Ps3qoHbcQUW3RrRR4i5LrYzGMHN3rPUBBzqixquV:
    "the source gives the last hop's WSOL; token for token, the quote is what the selling hop paid (B7)",
  QfFVu1P4ji8EFTor4BcRYS84wipv2RJDhyzi3w3YQgv1D8mxz2RhF9cKxi4k6DZdtzDRPL6a346HboDUAsSUCfV:
    'the source gives the balance change with the rent of a token account (2039280), which is no part of a trade (B3)',
  '2rY9ky2Ypps3KMxcgEoerPPKc1ZYEhxbV7x2bRZf8n31RuBDddvguvdmWMLyDJB8ayvbcUGH2LPpxDhT2rhubTEX':
    'the source takes the network fee (20000) off what w got; it is no part of a trade (B3)',
  '2GMpqA7duENGaEXJUuP712J3tvX25uU45ZQ8vZdszXVUHyiAwo9byn3vVSVRgxks1PKX7H4wrBcE3FXqH1q6mRa1':
    "the wallet of the source is the account of the order; the fill is its owner's swap (B2a): buy 44075880 for 1428571",
  '376DxeSPgG1ynjpGFLLx5xFTTkVmQ54MmUcTuopKyEQXWQCu9PRzUZ2EijYi4YZq4eAPpRDdoQHzy59bfuNndLX4':
    'the transaction failed (B1)',
}
