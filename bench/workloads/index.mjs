import { w1 } from './w1-http.mjs';
import { w2 } from './w2-stdio.mjs';
import { w3 } from './w3-call.mjs';
import { w4 } from './w4-parallel.mjs';
import { w5 } from './w5-heap.mjs';
import { w6 } from './w6-growth.mjs';
import { w7 } from './w7-shared.mjs';

/**
 * The workloads in their order. Each has rows; a row is one task (see ../tasks.mjs) that its contenders carry out in
 * turns. A contender that is only measured by one workload is named by that workload's `contenders`.
 */
export const workloads = [w1, w2, w3, w4, w5, w6, w7];
