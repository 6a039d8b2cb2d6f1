import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Implementation } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv-provider.js';
import type {
  JsonSchemaType,
  JsonSchemaValidator,
  jsonSchemaValidator,
} from '@modelcontextprotocol/sdk/validation/types.js';
import type { ConnectionOptions, UnconnectedClient } from '../../toolset/client-source';
import { isHttp } from '../../toolset/connection-options';
import { HttpTransport } from './http';
import { StdioTransport } from './stdio';

/** A new official client, and the transport that the options describe (MCP specification, Transports). */
export function unconnectedClient(
  options: ConnectionOptions,
  { clientInfo, listens }: { readonly clientInfo: Implementation; readonly listens: boolean },
): UnconnectedClient {
  const transport = isHttp(options) ? new HttpTransport(options, listens) : new StdioTransport(options);
  const client = new Client(clientInfo, { jsonSchemaValidator: new LateValidator() });
  return { client, transport, timeout: options.timeout };
}

/**
 * The SDK's validator, made when something is to be validated. A client makes one at once, for every run, while the
 * library checks results by its own, which runs share; only an application that has the client by itself needs it.
 */
class LateValidator implements jsonSchemaValidator {
  private validator: AjvJsonSchemaValidator | undefined;

  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    this.validator ??= new AjvJsonSchemaValidator();
    return this.validator.getValidator<T>(schema);
  }
}
