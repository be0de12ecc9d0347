import { z } from 'zod'
import { Timestamp } from '../api/values.ts'

/** A person who gets alerts by mail when no channel takes them. */
export const Contact = z.object({
  id: z.uuid(),
  email: z.email(),
  name: z.string().nullable(),
  createdAt: Timestamp,
})

/** An email address: trimmed, at most 254 characters. */
export const ContactEmail = z.string().trim().max(254).pipe(z.email())

/** A person's name: trimmed, 1 to 100 characters. */
export const ContactName = z.string().trim().min(1).max(100)

/** An operator's reference to a contact: its id or its address. */
export const ContactReference = z.string().trim().min(1).max(254)
