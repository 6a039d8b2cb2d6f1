import type OpenAI from 'openai';
import { openaiToolOutputs, openaiTools } from 'mcp-toolset/openai';
import { INSTRUCTIONS, MAX_TURNS, type AgentLoop } from './agent';

/** The loop over the Responses API. */
export function openaiLoop(client: OpenAI, model: string): AgentLoop {
  return async (question, { tools, steps, signal }) => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
    for (let turn = 1; turn <= MAX_TURNS; turn += 1) {
      const request = { model, instructions: INSTRUCTIONS, tools: openaiTools(tools), input };
      const response = await client.responses.create(request, { signal });
      if (response.output_text !== '') steps.send({ type: 'text', text: response.output_text });
      for (const item of response.output) {
        if (item.type === 'function_call')
          steps.send({ type: 'call', id: item.call_id, name: item.name, input: item.arguments });
      }
      const outputs = await openaiToolOutputs(tools, response, { signal });
      if (outputs.length === 0) return;
      for (const { call_id: id, output } of outputs) {
        const text = typeof output === 'string' ? output : textOf(output);
        steps.send({ type: 'result', id, failed: text.startsWith('Error: '), text });
      }
      // What the model said goes back as it came, its reasoning included.
      input.push(...(response.output as OpenAI.Responses.ResponseInput), ...outputs);
    }
    steps.send({ type: 'notice', text: `The model did not come to an end in ${MAX_TURNS} turns.` });
  };
}

function textOf(output: OpenAI.Responses.ResponseFunctionCallOutputItemList): string {
  return output.flatMap((item) => (item.type === 'input_text' ? [item.text] : [])).join('\n');
}
