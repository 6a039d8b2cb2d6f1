/** What a user sees of an answer while it is made; each is one server-sent event. */
export type Step =
  | { readonly type: 'start'; readonly model: string; readonly scripted: boolean; readonly tools: readonly string[] }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: 'artifact';
      readonly callId: string;
      readonly url: string;
      readonly mediaType: string;
      readonly name: string;
    }
  | { readonly type: 'result'; readonly id: string; readonly failed: boolean; readonly text: string }
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: 'done' };

/** Takes the steps of one answer; every run has its own. */
export class Steps {
  constructor(readonly send: (step: Step) => void) {}
}
