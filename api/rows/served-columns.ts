/**
 * Published sums of table `positions`. With PRIVACY_SALT they differ from the true columns (rule
 * I2).
 */
export const SERVED_SUMS =
  'served_bought_amount AS bought_amount, served_sold_amount AS sold_amount, served_bought_lamports AS bought_lamports, served_sold_lamports AS sold_lamports'

export const SERVED_TIMES =
  'served_first_trade_time AS first_trade_time, served_last_trade_time AS last_trade_time'
