import { z } from 'zod'
import { Timestamp } from '../api/route.ts'

/** Somebody whom alerts are mailed to when no channel is there for them. */
export const Contact = z.object({
  id: z.uuid(),
  email: z.email(),
  name: z.string().nullable(),
  createdAt: Timestamp,
})

export const ContactEmail = z.string().trim().max(254).pipe(z.email())

export const ContactName = z.string().trim().min(1).max(100)

/** How an operator points at a contact: its id or its address. */
export const ContactReference = z.string().trim().min(1).max(254)
