import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { createParser } from 'eventsource-parser';
import { StringDecoder } from 'node:string_decoder';
import { asError } from '../../run/abort';
import { nextTurn } from '../../run/next-turn';
import { bufferOf } from './response-body';

/** Who is told what comes. */
export interface MessageListener {
  readonly message: (message: JSONRPCMessage) => void;
  /** Something came that is no message of the protocol, or could not be taken in. */
  readonly error: (error: Error) => void;
}

/**
 * Tells the messages of an event stream (MCP specification, Transports, Streamable HTTP) as they come, each in a turn of its
 * own: the client takes longer to pass on some kinds than others. The SDK puts such a stream through three web streams,
 * which takes longer than all else in reading a short reply.
 */
export async function readMessages(stream: AsyncIterable<Uint8Array>, listener: MessageListener): Promise<void> {
  const decoder = new StringDecoder('utf8');
  const come: string[] = [];
  const parser = createParser({
    onEvent: ({ event = 'message', data }) => {
      if (event === 'message' && data !== '') come.push(data);
    },
  });
  for await (const chunk of stream) {
    parser.feed(decoder.write(bufferOf(chunk)));
    const texts = come.splice(0);
    for (const [index, text] of texts.entries()) {
      if (index > 0) await nextTurn();
      tell(text, listener);
    }
  }
}

function tell(text: string, listener: MessageListener): void {
  try {
    listener.message(JSONRPCMessageSchema.parse(JSON.parse(text)));
  } catch (error) {
    listener.error(asError(error));
  }
}
