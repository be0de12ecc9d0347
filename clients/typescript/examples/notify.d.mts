/** Sends the webhook `order.paid`. */
export declare function notifyPaid(url: string, order: { readonly id: number }): Promise<void>
