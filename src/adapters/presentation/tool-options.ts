import { z } from 'zod/v4';
import { count } from '../../options';

/** The options that adapters have for tools, for `checkOptions`. */
export const toolOptions = {
  strict: z.union([z.literal(false), z.literal('where-fit')], { error: "expected false or 'where-fit'" }).optional(),
  maxDescriptionLength: count.optional(),
};

/** Characters of a description, before it is cut: the most that some models take. */
export const MAX_DESCRIPTION_LENGTH = 1_024;
