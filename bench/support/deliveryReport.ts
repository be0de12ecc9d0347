/** What arrived at the receiver of the delivery benchmark. */
export interface DeliveryReport {
  readonly arrived: number
  /** Deliveries by their id: the rest of `arrived` are duplicates. */
  readonly distinct: number
  /** From the moment before the capture was sent to its arrival. */
  readonly p50Ms: number
  readonly p99Ms: number
}
