import { singleton } from 'tsyringe';
import { MapTool, McpToolset, OnError, type HttpConnectionOptions, type McpToolClass } from 'mcp-toolset';
import { keepingArtifacts } from './artifact-store';
import { Settings } from './settings';
import { Steps } from './steps';

/** What each user may present to the shop: other secrets than those by which users sign in here. */
@singleton()
export class ShopAccounts {
  private readonly tokens = new Map([
    ['ada', 'shop-token-of-ada'],
    ['grace', 'shop-token-of-grace'],
  ]);

  async tokenOf(user: string | undefined): Promise<string> {
    const token = this.tokens.get(user ?? '');
    if (token === undefined) throw new Error(`${user} has no account at the shop.`);
    return token;
  }
}

/** The shop, as the user whose run it is. */
@McpToolset({
  connection: async ({ run, container }): Promise<HttpConnectionOptions> => {
    const token = await container.resolve(ShopAccounts).tokenOf(run?.invocation.actorId);
    const { shopUrl } = container.resolve(Settings);
    // Plain http because the sample's server is on this machine.
    return { url: shopUrl, headers: { Authorization: `Bearer ${token}` }, allowInsecureHttp: true };
  },
  timeout: 30_000,
  tools: { prefix: 'shop_' },
})
export class ShopTools {
  @MapTool()
  keep(tool: McpToolClass): McpToolClass {
    return keepingArtifacts(tool);
  }
}

/** A server that answers are possible without. */
@McpToolset({
  connection: ({ container }) => ({ url: container.resolve(Settings).weatherUrl, allowInsecureHttp: true }),
  optional: true,
  tools: { prefix: 'weather_' },
})
export class WeatherTools {
  constructor(private readonly steps: Steps) {}

  @OnError()
  report(): void {
    this.steps.send({ type: 'notice', text: 'The weather server cannot be reached; this answer does without it.' });
  }
}
