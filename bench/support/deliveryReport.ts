/** Deliveries at the receiver of the delivery benchmark. */
export interface DeliveryReport {
  readonly arrived: number
  /** Number of distinct delivery ids; the rest of `arrived` are duplicates. */
  readonly distinct: number
  /** Time from before the capture is sent until its arrival. */
  readonly p50Ms: number
  readonly p99Ms: number
}
