/** The middle of numbers, or the mean of the two in the middle. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The median of the quotients of numbers that were measured side by side: what slowed one round down slowed both. */
export function medianRatio(numerators, denominators) {
  return median(numerators.map((numerator, round) => numerator / denominators[round]));
}
